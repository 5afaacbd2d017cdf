// A loop with a condition becomes masked loads and stores: only the chosen elements are accessed.
// flags: -O3 -mavx2
// cpu: avx2
// orders: both
#include "../include/threads.h"

enum { SIZE = 256, EVEN = 100, ODD = 101 };

int numbers[SIZE];
int chosen[SIZE];
int seen;

static void writer(void) {
    turn(1);
    for (int i = 0; i < SIZE; i++) {
        if (chosen[i]) {
            numbers[i] = i; //~ RACE even
        }
    }
    next_turn();
}

static void reader(void) {
    turn(2);
    seen += numbers[EVEN]; //~ RACE even
    seen += numbers[ODD];
    next_turn();
}

int main(void) {
    for (int i = 0; i < SIZE; i += 2) {
        chosen[i] = 1;
    }
    together(writer, reader);
    printf("%d\n", seen);
}
