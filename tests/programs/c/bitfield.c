// A bit-field of width 0 starts a new memory location: the two sides do not race.
#include "../include/threads.h"

struct {
    unsigned low : 4;
    unsigned : 0;
    unsigned high : 4;
    char other;
} flags;

static void one(void) {
    for (int i = 0; i < 100; i++) {
        flags.low++;
    }
}

static void two(void) {
    for (int i = 0; i < 100; i++) {
        flags.high--;
        flags.other++;
    }
}

int main(void) {
    together(one, two);
    printf("%u %u %d\n", flags.low, flags.high, flags.other);
}
