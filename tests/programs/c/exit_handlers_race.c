// A function of atexit reads what a thread that nobody has joined writes.
#include <unistd.h>

#include "../include/threads.h"

static int data;

static void *write_it(void *argument) {
    turn(1);
    data = 1; //~ RACE data
    next_turn();
    pause();
    return argument;
}

static void at_exit(void) {
    turn(2);
    printf("%d\n", data); //~ RACE data
    fflush(stdout);
    next_turn();
}

int main(void) {
    atexit(at_exit);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, write_it, NULL) == 0);
    return 0;
}
