// A check behind a call that may throw does not stand for what came before, nor does one behind a loop that an exception leaves.
#include "../include/threads.hpp"

enum { SIZE = 64, LAST = 7 };

volatile long data;
volatile long numbers[SIZE];

static __attribute__((noinline)) void throw_if(bool condition) {
    if (condition)
        throw 1;
}

static __attribute__((noinline)) void once() {
    long seen = data; //~ RACE data
    throw_if(seen == 3);
    data = seen + 1;
}

static __attribute__((noinline)) void again_and_again() {
    for (long i = 0; i < SIZE; i++) {
        numbers[i] = i; //~ RACE numbers
        throw_if(i == LAST);
    }
}

static void one() {
    turn(1);
    data = 3; //~ RACE data
    numbers[LAST / 2] = 1; //~ RACE numbers
    next_turn();
}

static void attempt(void (*what)()) {
    try {
        what();
    } catch (int) {
    }
}

static void other() {
    turn(2);
    attempt(once);
    attempt(again_and_again);
    next_turn();
}

int main() {
    together(one, other);
    std::printf("%ld %ld\n", data, numbers[LAST]);
}
