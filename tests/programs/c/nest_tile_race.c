// Two threads fill tiles of a matrix, row by row; the tiles have one column in common.
// flags: -O2
#include "../include/threads.h"

enum { SIDE = 96, TILE = 33 };

double matrix[SIDE][SIDE];
volatile long columns = TILE;

static void fill(long left, double value) {
    long right = left + columns;
    for (long i = 0; i < SIDE; i++) {
        for (long j = left; j < right; j++) {
            matrix[i][j] = value; //~ RACE matrix
        }
    }
}

static void one(void) {
    fill(0, 1);
    next_turn();
}

static void two(void) {
    turn(2);
    fill(TILE - 1, 2);
}

int main(void) {
    together(one, two);
}
