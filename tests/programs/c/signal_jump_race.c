// After siglongjmp out of a handler and out of many frames, the stack of a report is that of the jump's target.
// orders: both
#include "../include/threads.h"

#include <setjmp.h>
#include <signal.h>

static int data;
static _Thread_local sigjmp_buf back;

static void handler(int signal) {
    siglongjmp(back, signal);
}

__attribute__((noinline)) static void deep(int depth) {
    if (depth > 0) {
        deep(depth - 1);
    } else {
        raise(SIGUSR1);
    }
    data = 7;
}

__attribute__((noinline)) static void lands(int n) {
    data = n; //~ RACE data
}

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    for (volatile int i = 0; i < 10; i++) {
        if (sigsetjmp(back, 1) == 0) {
            deep(20);
        }
    }
    lands((int)(long)argument);
    next_turn();
    return argument;
}

int main(void) {
    signal(SIGUSR1, handler);
    crowd(2, work);
    printf("%d\n", data);
}
