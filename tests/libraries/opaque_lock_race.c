// Both threads call a library before they race. Nothing is called between the two accesses.
// library: opaque.c
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static int counter;

static void lock(void) {
    opaque_lock();
    opaque_unlock();
}

static void one(void) {
    lock();
    turn(3);
    counter++; //~ RACE counter
    next_turn();
}

static void two(void) {
    lock();
    next_turn();
    next_turn();
    turn(4);
    counter++; //~ RACE counter
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", counter);
}
