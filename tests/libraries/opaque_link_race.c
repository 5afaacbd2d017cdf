// Calls with the same arguments reach more and more, but never what the other thread's calls reach.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/threads.h"
#include "opaque.h"

enum { PLACES = 1000 };

static int data;

static void fill(int number) {
    struct opaque_slot **table = calloc(PLACES, sizeof *table);
    for (int i = 0; i < 50; i++) {
        table[i] = opaque_slot_new();
        opaque_put(table[i], &table[i]);
        for (int n = 0; n < 5; n++) {
            MUST(opaque_look(table, i) == &table[i]);
        }
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
