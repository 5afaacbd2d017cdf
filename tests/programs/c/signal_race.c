// A handler that runs in one thread races with another thread like any function.
#include "../include/threads.h"

#include <signal.h>

int data;

static void handler(int signal) {
    data = 1; //~ RACE data
}

static void one(void) {
    raise(SIGUSR1);
    next_turn();
}

static void two(void) {
    turn(2);
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    signal(SIGUSR1, handler);
    together(one, two);
}
