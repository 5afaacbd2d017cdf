// The report names the lines of inlined functions.
// flags: -O2
// orders: both
#include "../include/threads.h"

struct pair { int left, right; } pair;

static inline __attribute__((always_inline)) void set(int *place, int value) {
    *place = value; //~ RACE left
}

static inline __attribute__((always_inline)) void set_left(struct pair *pair, int value) {
    set(&pair->left, value);
}

static void one(void) {
    turn(1);
    set_left(&pair, 1);
    next_turn();
}

static void two(void) {
    turn(2);
    set_left(&pair, 2);
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", pair.left);
}
