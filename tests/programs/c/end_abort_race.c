// The program aborts after a race.
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

int main(void) {
    start(writer);
    turn(2);
    data = 2; //~ RACE data
    puts("main");
    fflush(stdout);
    abort();
}
