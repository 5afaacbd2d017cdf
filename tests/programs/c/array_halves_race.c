// Two threads sweep halves of an array; one goes one element too far.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { SIZE = 1000 };

long numbers[SIZE];

static void lower(void) {
    turn(1);
    for (int i = 0; i <= SIZE / 2; i++) {
        numbers[i] += i; //~ RACE middle
    }
    next_turn();
}

static void upper(void) {
    turn(2);
    for (int i = SIZE / 2; i < SIZE; i++) {
        numbers[i] += 2 * i; //~ RACE middle
    }
    next_turn();
}

int main(void) {
    together(lower, upper);
    printf("%ld %ld\n", numbers[SIZE / 2], numbers[SIZE - 1]);
}
