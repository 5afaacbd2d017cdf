// Store buffering: sequentially consistent fences keep both threads from reading 0, but nothing read the other's store
// when the second one started, so nothing orders the data.
#include "../include/atomics.h"

int data;
atomic_int x, y;

static void one(void) {
    data = 1; //~ RACE data
    STORE(x, 1, RELAXED);
    atomic_thread_fence(SEQ_CST);
    LOAD(y, RELAXED);
    next_turn();
}

static void two(void) {
    turn(2);
    STORE(y, 1, RELAXED);
    atomic_thread_fence(SEQ_CST);
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    together(one, two);
}
