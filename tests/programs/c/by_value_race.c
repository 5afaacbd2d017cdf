// A structure passed by value is read whole at the call.
// orders: both
#include "../include/threads.h"

struct big { long words[16]; } big = {.words[15] = 1};
long seen;

__attribute__((noinline)) static long last(struct big copy) {
    return copy.words[15] + copy.words[0];
}

static void caller(void) {
    turn(1);
    seen = last(big); //~ RACE big
    next_turn();
}

static void writer(void) {
    turn(2);
    big.words[7] = 2; //~ RACE big
    next_turn();
}

int main(void) {
    together(caller, writer);
    printf("%ld\n", seen);
}
