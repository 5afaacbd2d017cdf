// quick_exit runs its own handlers.
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void handler(void) {
    puts("handler");
    fflush(stdout);
}

int main(void) {
    at_quick_exit(handler);
    start(writer);
    turn(2);
    data = 2; //~ RACE data
    quick_exit(6);
}
