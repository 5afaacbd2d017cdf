// Large arrays, static ones and those in stacks, are looked at as a whole, and order nothing if they have nothing in common.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include "../programs/include/threads.h"
#include "opaque.h"

enum { PLACES = 6000 };

static struct opaque_slot *first[PLACES], *second[PLACES];
static int data;

static void fill(struct opaque_slot **table) {
    for (int i = 0; i < 20; i++) {
        int at = PLACES - 1 - i * 250;
        table[at] = opaque_slot_new();
        opaque_put(table[at], &table[at]);
        MUST(opaque_look(table, at) == &table[at]);
    }
}

static void both(struct opaque_slot **table, int number) {
    struct opaque_slot *local[PLACES] = {0};
    fill(table);
    fill(local);
    MUST(opaque_look(local, PLACES - 1));
    data = number; //~ RACE data
}

static void one(void) {
    turn(1);
    both(first, 1);
    next_turn();
}

static void two(void) {
    turn(2);
    both(second, 2);
    next_turn();
}

int main(void) {
    together(one, two);
}
