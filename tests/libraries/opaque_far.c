// Threads meet in an object that only a pointer far inside of a large array leads to, which is static or in a stack.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/threads.h"
#include "opaque.h"

enum { WAYS = 3, ROUNDS = 10, PLACES = 6000 };

static struct opaque_slot *slots[WAYS][ROUNDS];
static long *data[WAYS][ROUNDS];
static struct opaque_slot *fixed[PLACES];

static long read_from(struct opaque_slot **table, int way) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int at = PLACES - 1 - i * 500;
        table[at] = slots[way][i];
        long *found = opaque_get_from(table, at);
        table[at] = NULL;
        sum += *found;
    }
    return sum;
}

static void reader(void) {
    struct opaque_slot *local[PLACES] = {0};
    long sum = read_from(fixed, 0) + read_from(local, 1);
    for (int i = 0; i < ROUNDS; i++) {
        local[PLACES - 1] = slots[2][i];
        long *found = opaque_get_from(local, PLACES - 1);
        local[PLACES - 1] = NULL;
        sum += *found;
    }
    printf("%ld\n", sum);
}

static void writer(void) {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            *data[way][i] = way + i;
            opaque_put(slots[way][i], data[way][i]);
        }
    }
}

int main(void) {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            slots[way][i] = opaque_slot_new();
            data[way][i] = calloc(1, sizeof *data[way][i]);
        }
    }
    together(reader, writer);
}
