// Memory is freed and allocated again, so what is known of a loop over it must be forgotten: the second loop is the one that races.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 600 };

long *volatile shared;

static long *filled(long first) {
    long *numbers = malloc(SIZE * sizeof *numbers);
    for (long i = 0; i < SIZE; i++) {
        numbers[i] = first + i; //~ RACE numbers
    }
    return numbers;
}

static void owner(void) {
    free(filled(1));
    shared = filled(2); //~ RACE shared
    next_turn();
    turn(3);
}

static void user(void) {
    turn(2);
    long *numbers = shared; //~ RACE shared
    printf("%ld\n", numbers[SIZE - 1]); //~ RACE numbers
    next_turn();
}

int main(void) {
    together(owner, user);
    free(shared);
}
