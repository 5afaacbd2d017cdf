// What the optimiser reads in front of an inner loop is read in all rounds of the loop around it or in none, and checked behind that one.
// flags: -O2
// orders: both
#include "../include/threads.h"

static double factors[64], table[64][64];
static volatile long width = 3;

static __attribute__((noinline)) void scale(long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < columns; j++) {
            table[i][j] *= factors[i]; //~ RACE factor
        }
    }
}

static void writer(void) {
    turn(1);
    factors[7] = 2; //~ RACE factor
    next_turn();
}

static void reader(void) {
    turn(2);
    scale(64, width);
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%g\n", table[63][63]);
}
