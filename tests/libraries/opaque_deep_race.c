// Blocks of 64 KiB and of 2 MiB that have nothing in common are looked at to their end, and order nothing.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include "../programs/include/threads.h"
#include "opaque.h"

enum { SIZES = 2, KIB = 1024 / sizeof(void *) };
static const int sizes[SIZES] = {64 * KIB, 2048 * KIB};

static int small, large;

static void fill(int size) {
    struct opaque_slot **table = calloc(size, sizeof *table);
    for (int i = size - 20; i < size; i++) {
        table[i] = opaque_slot_new();
        opaque_put(table[i], &table[i]);
        MUST(opaque_look(table, i) == &table[i]);
    }
}

static void both(int number) {
    fill(sizes[0]);
    small = number; //~ RACE small
    fill(sizes[1]);
    large = number; //~ RACE large
}

static void one(void) {
    turn(1);
    both(1);
    next_turn();
}

static void two(void) {
    turn(2);
    both(2);
    next_turn();
}

int main(void) {
    together(one, two);
}
