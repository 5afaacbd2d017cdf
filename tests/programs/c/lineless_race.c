// The optimiser loads the pointer once, before the loop, where there is no line of the source: named is the line that uses it.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { COUNT = 8 };

static long first[COUNT], second[COUNT];
static long *place = first;

static __attribute__((noinline)) void fill(int count) {
    for (int i = 0; i < count; i++) {
        place[i] += i * i + 1; //~ RACE place
    }
}

static void filler(void) {
    turn(1);
    fill(COUNT);
    next_turn();
}

static void mover(void) {
    turn(2);
    place = second; //~ RACE place
    next_turn();
}

int main(void) {
    together(filler, mover);
    long sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += first[i] + second[i];
    }
    printf("%ld\n", sum);
}
