// One check stands for several accesses, and for those across a call that orders nothing: the race is found at that check.
// orders: both
#include "../include/threads.h"

struct {
    volatile long x, y;
} point;

static __attribute__((noinline)) long twice(long value) {
    return value * 2;
}

static void one(void) {
    turn(1);
    long seen = point.x;
    point.x = twice(seen); //~ RACE x
    point.y += point.x; //~ RACE y
    next_turn();
}

static void other(void) {
    turn(2);
    point.x = 7; //~ RACE x
    if (point.x > 3)
        point.y = 7; //~ RACE y
    next_turn();
}

int main(void) {
    together(one, other);
}
