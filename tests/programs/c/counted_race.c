// The same pair of lines on a thousand elements, in no order that could be checked at once, is one report, and counted.
// orders: both
#include "../include/threads.h"

enum { SIZE = 1000 };

int numbers[SIZE];

static void one(void) {
    turn(1);
    for (int i = 0; i < SIZE; i++) {
        numbers[7 * i % SIZE] = i; //~ RACE numbers
    }
    next_turn();
}

static void two(void) {
    turn(2);
    for (int i = 0; i < SIZE; i++) {
        numbers[7 * i % SIZE] = 2 * i; //~ RACE numbers
    }
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", numbers[SIZE - 1]);
}
