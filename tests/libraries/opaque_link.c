// Calls with the same argument reach something else after the program has put it there: by this two threads meet.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/threads.h"
#include "opaque.h"

enum { ROUNDS = 20, SIZES = 3 };
static const int sizes[SIZES] = {4, 100, 1000};

static struct opaque_slot *slots[SIZES][ROUNDS];
static long data[SIZES][ROUNDS];

static void reader(void) {
    long sum = 0;
    for (int s = 0; s < SIZES; s++) {
        struct opaque_slot **table = calloc(sizes[s], sizeof *table);
        for (int i = 0; i < ROUNDS; i++) {
            int at = i % sizes[s];
            table[at] = NULL;
            for (int n = 0; n < i; n++) {
                MUST(!opaque_look(table, at));
            }
            table[at] = slots[s][i];
            next_turn();
            long *found = opaque_get_from(table, at);
            sum += *found;
        }
        free(table);
    }
    printf("%ld\n", sum);
}

static void writer(void) {
    for (int s = 0; s < SIZES; s++) {
        for (int i = 0; i < ROUNDS; i++) {
            // Not before the other has linked it, which nobody sees.
            turn(s * ROUNDS + i + 2);
            data[s][i] = s + i;
            opaque_put(slots[s][i], &data[s][i]);
        }
    }
}

int main(void) {
    for (int s = 0; s < SIZES; s++) {
        for (int i = 0; i < ROUNDS; i++) {
            slots[s][i] = opaque_slot_new();
        }
    }
    together(reader, writer);
}
