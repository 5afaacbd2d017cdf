// Two threads meet by something that the program puts into a large table for one call only: neither the calls before nor those after
// can reach it. The pointer is stored, stored as a part of a struct, copied, or exchanged.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

enum { ROUNDS = 20, WAYS = 4, PLACES = 4000 };

static struct opaque_slot *slots[WAYS][ROUNDS];
static long data[WAYS][ROUNDS];

struct pair {
    struct opaque_slot *one, *two;
};

static void put_in(struct opaque_slot **table, int at, struct opaque_slot *slot, int way) {
    struct pair pair = {slot, NULL};
    switch (way) {
    case 0:
        table[at] = slot;
        break;
    case 1:
        *(struct pair *)&table[at] = pair;
        break;
    case 2:
        memcpy(&table[at], &slots[way][at], sizeof slot);
        break;
    default:
        __atomic_exchange_n(&table[at], slot, __ATOMIC_RELAXED);
    }
}

static void reader(void) {
    long sum = 0;
    for (int way = 0; way < WAYS; way++) {
        struct opaque_slot **table = calloc(PLACES, sizeof *table);
        for (int i = 0; i < ROUNDS; i++) {
            for (int n = 0; n < i; n++) {
                MUST(!opaque_look(table, i));
            }
            put_in(table, i, slots[way][i], way);
            next_turn();
            long *found = opaque_get_from(table, i);
            table[i] = NULL;
            sum += *found;
        }
        free(table);
    }
    printf("%ld\n", sum);
}

static void writer(void) {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            // Not before the other has linked it, which nobody sees.
            turn(way * ROUNDS + i + 2);
            data[way][i] = way + i;
            opaque_put(slots[way][i], &data[way][i]);
        }
    }
}

int main(void) {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            slots[way][i] = opaque_slot_new();
        }
    }
    together(reader, writer);
}
