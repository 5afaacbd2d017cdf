// The first thread ends by pthread_exit, the race comes later.
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void other(void) {
    turn(2);
    data = 2; //~ RACE data
    puts("thread");
}

int main(void) {
    start(writer);
    start(other);
    pthread_exit(NULL);
}
