// A thread other than the first ends the program.
#include "../include/threads.h"

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void ender(void) {
    turn(2);
    data = 2; //~ RACE data
    puts("thread");
    exit(4);
}

int main(void) {
    start(writer);
    join(start(ender));
    puts("never");
}
