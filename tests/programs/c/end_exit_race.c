// The program ends by exit, with handlers of atexit, while the other thread lives.
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void handler(void) {
    puts("handler");
}

int main(void) {
    atexit(handler);
    start(writer);
    turn(2);
    data = 2; //~ RACE data
    puts("main");
    exit(3);
}
