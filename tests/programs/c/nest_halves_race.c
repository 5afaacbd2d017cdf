// Inner loops of a few rounds over both halves of pieces of an array, as in a transform; then someone reads without order.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 256 };

double row[SIZE];
volatile long half = 4;

static void transform(void) {
    long length = half;
    for (long start = 0; start < SIZE; start += 2 * length) {
        for (long k = 0; k < length; k++) {
            double even = row[start + k], odd = row[start + k + length];
            row[start + k] = even + odd;
            row[start + k + length] = even - odd; //~ RACE row
        }
    }
    next_turn();
}

static void look(void) {
    turn(2);
    printf("%g\n", row[SIZE - 1]); //~ RACE row
}

int main(void) {
    together(transform, look);
}
