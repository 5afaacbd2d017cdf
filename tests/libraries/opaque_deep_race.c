// Large blocks that have nothing in common are looked at to their end, and order nothing.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include "../programs/include/threads.h"
#include "opaque.h"

enum { PLACES = 20000 };

static int data;

static void fill(int number) {
    struct opaque_slot **table = calloc(PLACES, sizeof *table);
    for (int i = PLACES - 20; i < PLACES; i++) {
        table[i] = opaque_slot_new();
        opaque_put(table[i], &table[i]);
        MUST(opaque_look(table, i) == &table[i]);
    }
    data = number; //~ RACE data
}

static void one(void) {
    turn(1);
    fill(1);
    next_turn();
}

static void two(void) {
    turn(2);
    fill(2);
    next_turn();
}

int main(void) {
    together(one, two);
}
