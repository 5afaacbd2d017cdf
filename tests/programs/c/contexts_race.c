// A context on a stack of its own races like any other code.
#include <ucontext.h>

#include "../include/threads.h"

enum { STACK = 64 << 10 };

static int data;
static _Thread_local ucontext_t own, back;

static void body(void) {
    data++; //~ RACE data
    setcontext(&back);
}

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    char *stack = malloc(STACK);
    getcontext(&own);
    own.uc_stack.ss_sp = stack;
    own.uc_stack.ss_size = STACK;
    makecontext(&own, body, 0);
    swapcontext(&back, &own);
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", data);
}
