// A call that is given a number and gives one back, on both sides of a race.
// library: opaque.c
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static int data;

static void one(void) {
    MUST(opaque_nothing(1) == 1);
    next_turn();
    turn(3);
    data = 1; //~ RACE data
    next_turn();
    MUST(opaque_nothing(2) == 2);
}

static void two(void) {
    MUST(opaque_nothing(3) == 3);
    next_turn();
    turn(4);
    data = 2; //~ RACE data
    next_turn();
    MUST(opaque_nothing(4) == 4);
}

int main(void) {
    together(one, two);
}
