// Orderings that do not synchronise: relaxed on either side, and a release that is read by a relaxed load.
#include "../include/atomics.h"

int a, b, c, d, e, sum;
atomic_int fa, fb, fc, fd, fe;

static void writer(void) {
    a = 1; //~ RACE a
    STORE(fa, 1, RELAXED);
    b = 1; //~ RACE b
    STORE(fb, 1, RELAXED);
    c = 1; //~ RACE c
    STORE(fc, 1, RELEASE);
    d = 1; //~ RACE d
    atomic_fetch_add_explicit(&fd, 1, ACQUIRE);
    e = 1; //~ RACE e
    atomic_fetch_add_explicit(&fe, 1, RELAXED);
}

static void reader(void) {
    AWAIT(fa, 1, RELAXED);
    sum += a; //~ RACE a
    AWAIT(fb, 1, ACQUIRE);
    sum += b; //~ RACE b
    AWAIT(fc, 1, RELAXED);
    sum += c; //~ RACE c
    AWAIT(fd, 1, ACQUIRE);
    sum += d; //~ RACE d
    while (!atomic_fetch_add_explicit(&fe, 0, RELEASE)) {
        sched_yield();
    }
    sum += e; //~ RACE e
}

int main(void) {
    together(writer, reader);
    printf("%d\n", sum);
}
