// Volatile is neither atomic nor an order: the flag races, and so does what it is to protect.
#include "../include/threads.h"

volatile int ready;
int data;

static void writer(void) {
    data = 42; //~ RACE data
    ready = 1; //~ RACE ready
}

static void reader(void) {
    while (!ready) { //~ RACE ready
        sched_yield();
    }
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    together(writer, reader);
}
