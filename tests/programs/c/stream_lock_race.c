// The locks of two streams are two locks.
// orders: both
#include "../include/threads.h"

int data;

static void one(void) {
    turn(1);
    flockfile(stdout);
    data++; //~ RACE data
    funlockfile(stdout);
    next_turn();
}

static void other(void) {
    turn(2);
    flockfile(stderr);
    data++; //~ RACE data
    funlockfile(stderr);
    next_turn();
}

int main(void) {
    together(one, other);
    printf("%d\n", data);
}
