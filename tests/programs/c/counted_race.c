// The same pair of lines on a thousand elements is one report, and counted.
// orders: both
#include "../include/threads.h"

enum { SIZE = 1000 };

int numbers[SIZE];

static void one(void) {
    turn(1);
    for (int i = 0; i < SIZE; i++) {
        numbers[i] = i; //~ RACE numbers
    }
    next_turn();
}

static void two(void) {
    turn(2);
    for (int i = 0; i < SIZE; i++) {
        numbers[i] = 2 * i; //~ RACE numbers
    }
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", numbers[SIZE - 1]);
}
