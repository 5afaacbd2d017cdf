// One thread fills the part of a matrix below its diagonal, the other one the part above, and both of them the diagonal.
// flags: -O2
#include "../include/threads.h"

enum { SIDE = 80 };

int matrix[SIDE][SIDE];
volatile int side = SIDE;

static void below(void) {
    int rows = side;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j <= i; j++) {
            matrix[i][j] = i; //~ RACE matrix
        }
    }
    next_turn();
}

static void above(void) {
    turn(2);
    int rows = side;
    for (int i = 0; i < rows; i++) {
        for (int j = i; j < rows; j++) {
            matrix[i][j] = j; //~ RACE matrix
        }
    }
}

int main(void) {
    together(below, above);
}
