// Volatile is neither atomic nor an order: the flag races, and so does what it is to protect.
#include "../include/threads.h"

volatile int ready;
int data;

static void writer(void) {
    turn(1);
    data = 42; //~ RACE data
    ready = 1; //~ RACE ready
    next_turn();
}

static void reader(void) {
    turn(2);
    while (!ready) { //~ RACE ready
        sched_yield();
    }
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    together(writer, reader);
}
