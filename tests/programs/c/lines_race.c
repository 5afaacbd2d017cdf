// One check stands for accesses at several lines: one that was made before, and one that will be made. The report names them all. Neighbours
// at several lines keep checks of their own, so that the one that races is named.
// flags: -O2 -fno-strict-aliasing
#include "../include/threads.h"

struct point { long x, y, z; };
struct point covered, followed, merged;

/// The optimiser leaves volatile accesses where they are.
#define LATER(place) (*(volatile long *)&(place))

static void fill(void) {
    LATER(covered.x) = 1;
    LATER(merged.x) = 1;
    LATER(merged.y) = 2;
    LATER(merged.z) = 3; //~ RACE merged
    long sum = LATER(followed.x);
    LATER(followed.x) = sum + 1; //~ RACE followed
    LATER(covered.x) = 2; //~ RACE covered
    next_turn();
}

static void look(void) {
    turn(2);
    printf("%ld\n", covered.x); //~ RACE covered
    printf("%ld\n", followed.x); //~ RACE followed
    printf("%ld\n", merged.z); //~ RACE merged
}

int main(void) {
    together(fill, look);
}
