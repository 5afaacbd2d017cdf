// A compare-exchange that fails has the ordering for failure, and releases nothing.
#include "../include/atomics.h"

int a, b, sum;
atomic_int fa, fb;

// The reader's fails, relaxed; it would acquire if it succeeded.
static void write_a(void) {
    a = 1; //~ RACE a
    STORE(fa, 1, RELEASE);
}
static void read_a(void) {
    int expected;
    do {
        sched_yield();
        expected = 7;
        atomic_compare_exchange_strong_explicit(&fa, &expected, 8, ACQ_REL, RELAXED);
    } while (expected != 1);
    sum += a; //~ RACE a
}

// The writer's fails: it stores nothing that could be acquired.
static void write_b(void) {
    b = 1; //~ RACE b
    int expected = 7;
    atomic_compare_exchange_strong_explicit(&fb, &expected, 8, ACQ_REL, ACQUIRE);
    next_turn();
}
static void read_b(void) {
    turn(2);
    LOAD(fb, ACQUIRE);
    sum += b; //~ RACE b
}

int main(void) {
    together(write_a, read_a);
    together(write_b, read_b);
    printf("%d\n", sum);
}
