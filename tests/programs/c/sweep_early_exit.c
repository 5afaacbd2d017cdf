// A search leaves its loop early; another thread writes only what was not looked at.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { SIZE = 1000, WANTED = 300 };

long numbers[SIZE];
long place;

static void search(void) {
    turn(1);
    for (long i = 0; i < SIZE; i++) {
        if (numbers[i] > 0) {
            place = i;
            break;
        }
    }
    next_turn();
}

static void change(void) {
    turn(2);
    for (long i = WANTED + 1; i < SIZE; i++) {
        numbers[i] = 2;
    }
    next_turn();
}

int main(void) {
    numbers[WANTED] = 1;
    together(search, change);
    printf("%ld\n", place);
}
