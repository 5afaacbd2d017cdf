// Neighbouring bit-fields are one memory location: writing two of them races.
// orders: both
#include "../include/threads.h"

struct {
    unsigned low : 4;
    unsigned high : 4;
} flags;

static void one(void) {
    turn(1);
    flags.low = 3; //~ RACE flags
    next_turn();
}

static void two(void) {
    turn(2);
    flags.high = 5; //~ RACE flags
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%u %u\n", flags.low, flags.high);
}
