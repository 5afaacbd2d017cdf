// A check behind a call that may jump away does not stand for what came before, nor does one behind a loop that such a call leaves.
#include "../include/threads.h"

#include <setjmp.h>

enum { SIZE = 64, LAST = 7 };

volatile long data;
volatile long numbers[SIZE];
static _Thread_local jmp_buf back;

static __attribute__((noinline)) void jump_if(long condition) {
    if (condition)
        longjmp(back, 1);
}

static __attribute__((noinline)) void once(void) {
    long seen = data; //~ RACE data
    jump_if(seen);
    data = seen + 1;
}

static __attribute__((noinline)) void again_and_again(void) {
    for (long i = 0; i < SIZE; i++) {
        numbers[i] = i; //~ RACE numbers
        jump_if(i == LAST);
    }
}

static void one(void) {
    turn(1);
    data = 3; //~ RACE data
    numbers[LAST / 2] = 1; //~ RACE numbers
    next_turn();
}

static void other(void) {
    turn(2);
    if (setjmp(back) == 0)
        once();
    if (setjmp(back) == 0)
        again_and_again();
    next_turn();
}

int main(void) {
    together(one, other);
    printf("%ld %ld\n", data, numbers[LAST]);
}
