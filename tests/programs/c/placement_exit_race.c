// A check behind a call that may end the program does not stand for what came before, nor does one behind a loop in which it is called.
#include "../include/threads.h"

enum { SIZE = 64, LAST = 7 };

volatile long data;
volatile long numbers[SIZE];

static __attribute__((noinline)) void end_if(long condition) {
    if (condition)
        exit(0);
}

static __attribute__((noinline)) void again_and_again(void) {
    for (long i = 0; i < SIZE; i++) {
        numbers[i] = i; //~ RACE numbers
        end_if(data + i == LAST); //~ RACE data
    }
}

static void one(void) {
    data = 0; //~ RACE data
    numbers[LAST / 2] = 1; //~ RACE numbers
    next_turn();
}

int main(void) {
    start(one);
    turn(2);
    again_and_again();
    data = 1;
    return 1;
}
