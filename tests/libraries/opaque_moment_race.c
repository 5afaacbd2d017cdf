// Large tables lead to something for one call only, each to its own: that orders nothing.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include "../programs/include/threads.h"
#include "opaque.h"

enum { PLACES = 4000 };

static int data;

static void fill(int number) {
    struct opaque_slot **table = calloc(PLACES, sizeof *table);
    for (int i = 0; i < 50; i++) {
        struct opaque_slot *slot = opaque_slot_new();
        opaque_put(slot, &table[i]);
        table[i] = slot;
        MUST(opaque_look(table, i) == &table[i]);
        table[i] = NULL;
        MUST(!opaque_look(table, i));
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
