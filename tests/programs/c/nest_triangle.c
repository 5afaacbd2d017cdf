// One thread fills the part of a matrix below its diagonal, the other one the part above.
// flags: -O2
#include "../include/threads.h"

enum { SIDE = 80 };

int matrix[SIDE][SIDE];
volatile int side = SIDE;

static void below(void) {
    int rows = side;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j <= i; j++) {
            matrix[i][j] = i;
        }
    }
    next_turn();
}

static void above(void) {
    turn(2);
    int rows = side;
    for (int i = 0; i < rows; i++) {
        for (int j = i + 1; j < rows; j++) {
            matrix[i][j] = j;
        }
    }
}

int main(void) {
    together(below, above);
}
