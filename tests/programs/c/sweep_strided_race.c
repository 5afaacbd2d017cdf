// Each thread has every other element; one begins at the other's.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { SIZE = 1000 };

long numbers[SIZE];

static void even(void) {
    turn(1);
    for (int i = 0; i < SIZE; i += 2) {
        numbers[i] = i; //~ RACE element
    }
    next_turn();
}

static void odd(void) {
    turn(2);
    numbers[SIZE / 2] = 1; //~ RACE element
    for (int i = 1; i < SIZE; i += 2) {
        numbers[i] = 2 * i;
    }
    next_turn();
}

int main(void) {
    together(even, odd);
    printf("%ld\n", numbers[SIZE - 1]);
}
