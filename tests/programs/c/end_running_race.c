// The program ends while a thread still runs, and races, in a loop.
// report: varies
// (How often it is seen depends on when the program ends.)
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void *runs(void *unused) {
    turn(2);
    for (;;) {
        data++; //~ RACE data
        next_turn();
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    start(writer);
    MUST(pthread_create(&thread, NULL, runs, NULL) == 0);
    turn(100);
    puts("main");
}
