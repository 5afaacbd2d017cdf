// Two threads fill halves of an array in one go each; one goes one element too far. The shadow of both halves is compressed.
// flags: -O2
// orders: both
#include "../include/threads.h"
#include <stdlib.h>
#include <string.h>

enum { SIZE = 8192 };

static long *numbers;

static void lower(void) {
    turn(1);
    memset(numbers, 1, (SIZE / 2 + 1) * sizeof *numbers); //~ RACE middle
    next_turn();
}

static void upper(void) {
    turn(2);
    memset(numbers + SIZE / 2, 2, SIZE / 2 * sizeof *numbers); //~ RACE middle
    next_turn();
}

int main(void) {
    numbers = malloc(SIZE * sizeof *numbers);
    together(lower, upper);
    printf("%d %d\n", numbers[0] != 0, numbers[SIZE - 1] != 0);
    free(numbers);
}
