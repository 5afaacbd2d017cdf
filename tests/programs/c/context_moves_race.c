// A coroutine goes on in another thread, and nobody handed it on: what it keeps races with what it did before.
#include "../include/threads.h"

#include <ucontext.h>

enum { STACK = 64 << 10 };

static ucontext_t own, back;
static int steps;

static void body(void) {
    for (;;) {
        steps++; //~ RACE steps
        swapcontext(&own, &back);
    }
}

static void one(void) {
    turn(1);
    swapcontext(&back, &own);
    next_turn();
}

static void two(void) {
    turn(2);
    swapcontext(&back, &own);
    printf("%d\n", steps);
}

int main(void) {
    getcontext(&own);
    own.uc_stack.ss_sp = malloc(STACK);
    own.uc_stack.ss_size = STACK;
    makecontext(&own, body, 0);
    together(one, two);
}
