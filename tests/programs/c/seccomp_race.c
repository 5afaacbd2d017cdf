// As seccomp.c: what races after it is found.
// orders: both
#include "../include/confine.h"

static long data[1024];

static void first(void) {
    data[7] = 1; // A region of its own.
    turn(1);
    confine(0);
    data[512] = 1; //~ RACE data
    next_turn();
}

static void second(void) {
    turn(2);
    data[512] = 2; //~ RACE data
    next_turn();
}

int main(void) {
    together(first, second);
    printf("%ld\n", data[7] + data[1000]);
    return 0;
}
