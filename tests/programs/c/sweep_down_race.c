// One thread goes down through an array by a pointer, the other up; both touch the first element.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { SIZE = 999 };

short numbers[SIZE];

static void down(void) {
    turn(1);
    for (short *at = numbers + SIZE; at-- != numbers;) {
        *at += 3; //~ RACE first
    }
    next_turn();
}

static void up(void) {
    turn(2);
    numbers[0] = 1; //~ RACE first
    next_turn();
}

int main(void) {
    together(down, up);
    printf("%d\n", numbers[SIZE - 1]);
}
