// Two threads turn columns of a matrix into rows of another, block by block, in place of what they have read a negative number; they have
// one column in common.
// flags: -O2
#include "../include/threads.h"

enum { SIDE = 64, HALF = 32, BLOCK = 8 };

double from[SIDE * SIDE], to[SIDE * SIDE];
volatile long width = SIDE;

static void turn_over(long first, long last) {
    long side = width;
    for (long row = first; row < last; row += BLOCK) {
        for (long column = 0; column < side; column += BLOCK) {
            for (long i = row; i < row + BLOCK && i < last; i++) {
                for (long j = column; j < column + BLOCK && j < side; j++) {
                    to[i * side + j] = from[j * side + i]; //~ RACE from to
                }
            }
        }
    }
    for (long i = first; i < last; i++) {
        for (long j = side - 1; j >= 0; j--) {
            from[j * side + i] = -1; //~ RACE from again
        }
    }
}

static void one(void) {
    turn_over(0, HALF);
    next_turn();
}

static void two(void) {
    turn(2);
    turn_over(HALF - 1, SIDE);
}

int main(void) {
    together(one, two);
}
