// A compare-exchange that fails is a load with the ordering for failure: acquire synchronises.
#include "../include/atomics.h"

int a, b, sum;
atomic_int fa, fb;

static void write_a(void) {
    a = 1;
    STORE(fa, 1, RELEASE);
}
static void read_a(void) {
    int expected;
    do {
        sched_yield();
        expected = 7;
        atomic_compare_exchange_strong_explicit(&fa, &expected, 8, RELAXED, ACQUIRE);
    } while (expected != 1);
    sum += a;
}

static void write_b(void) {
    b = 1;
    int zero = 0;
    while (!atomic_compare_exchange_weak_explicit(&fb, &zero, 1, ACQ_REL, RELAXED)) {
        zero = 0;
    }
}
static void read_b(void) {
    int expected;
    do {
        sched_yield();
        expected = 7;
        atomic_compare_exchange_weak_explicit(&fb, &expected, 8, SEQ_CST, SEQ_CST);
    } while (expected != 1);
    sum += b;
}

int main(void) {
    together(write_a, read_a);
    together(write_b, read_b);
    printf("%d\n", sum);
}
