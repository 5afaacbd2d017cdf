// A check behind a call that may end the thread does not stand for what came before.
#include "../include/threads.h"

volatile long data;

static __attribute__((noinline)) void end_if(long condition) {
    if (condition)
        pthread_exit(NULL);
}

static void one(void) {
    turn(1);
    data = 3; //~ RACE data
    next_turn();
}

static void other(void) {
    turn(2);
    long seen = data; //~ RACE data
    end_if(seen);
    data = seen + 1;
}

int main(void) {
    together(one, other);
}
