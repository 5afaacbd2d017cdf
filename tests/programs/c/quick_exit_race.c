// What was found before quick_exit is told.
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

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, write_it, NULL) == 0);
    turn(2);
    data++; //~ RACE data
    next_turn();
    puts("ends");
    fflush(stdout);
    quick_exit(0);
}
