// A loop goes by a pointer that it leaves alone, and another thread changes it meanwhile: that is the race. What the other one wrote at the
// beginning of the second array the loop has never touched.
// flags: -O2
#include "../include/threads.h"

#include <time.h>

enum { COUNT = 1 << 20, BEGINNING = 64 };

long first[COUNT];
static long second[COUNT];
static long *place = first;

static void sweeper(void) {
    next_turn();
    for (long i = 0; i < COUNT; i++) {
        // The optimiser does not know that this leaves `place` alone.
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        place[i] = now.tv_sec + 1; //~ RACE place
    }
    next_turn();
}

static void mover(void) {
    for (int i = 0; i < BEGINNING; i++) {
        second[i] = 1;
    }
    turn(2);
    // Until the loop has gone its first thousand rounds, of a million; no detector sees this look.
    long done = 0;
    while (done == 0) {
        __asm__ volatile("movq first+8000(%%rip), %0" : "=r"(done) : : "memory");
    }
    place = second; //~ RACE place
    turn(3);
}

int main(void) {
    together(sweeper, mover);
    int untouched = 0;
    for (int i = 0; i < BEGINNING; i++) {
        untouched += second[i] == 1;
    }
    MUST(first[0] != 0 && second[COUNT - 1] != 0 && untouched == BEGINNING);
    puts("moved");
}
