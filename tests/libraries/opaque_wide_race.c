// A call that reaches more than can be looked at orders nothing for a thread that calls nothing.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include "../programs/include/threads.h"
#include "opaque.h"

enum { PLACES = 6000 };

static int data;

static void one(void) {
    struct opaque_slot **table = calloc(PLACES, sizeof *table);
    for (int i = 0; i < PLACES; i++) {
        table[i] = opaque_slot_new();
    }
    turn(1);
    MUST(opaque_look(table, 1) == NULL);
    data = 1; //~ RACE data
    MUST(opaque_look(table, 2) == NULL);
    next_turn();
}

static void two(void) {
    turn(2);
    data = 2; //~ RACE data
    next_turn();
}

int main(void) {
    together(one, two);
}
