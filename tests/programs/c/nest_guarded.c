// Where the inner loop has no rounds, what the optimiser reads in front of it is not read, though the loop around it goes through all.
// flags: -O2
#include "../include/threads.h"

static double factors[64], table[64][64];
static volatile long width = 0;

static __attribute__((noinline)) void scale(long rows, long columns) {
    for (long i = 0; i < rows; i++) {
        for (long j = 0; j < columns; j++) {
            table[i][j] *= factors[i];
        }
    }
}

static void writer(void) {
    turn(1);
    factors[7] = 2;
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
