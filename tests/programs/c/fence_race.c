// Fences in the wrong place, of the wrong kind, or with nothing on the other side.
#include "../include/atomics.h"

int a, b, c, d, e, f, sum;
atomic_int fa, fb, fc, fd, fe, ff;

// The release fence comes after the store.
static void write_a(void) {
    a = 1; //~ RACE a
    STORE(fa, 1, RELAXED);
    atomic_thread_fence(RELEASE);
}
static void read_a(void) {
    AWAIT(fa, 1, ACQUIRE);
    sum += a; //~ RACE a
}

// The acquire fence comes before the load.
static void write_b(void) {
    b = 1; //~ RACE b
    STORE(fb, 1, RELEASE);
}
static void read_b(void) {
    atomic_thread_fence(ACQUIRE);
    AWAIT(fb, 1, RELAXED);
    sum += b; //~ RACE b
}

// A release fence, and nothing that acquires.
static void write_c(void) {
    c = 1; //~ RACE c
    atomic_thread_fence(SEQ_CST);
    STORE(fc, 1, RELAXED);
}
static void read_c(void) {
    AWAIT(fc, 1, RELAXED);
    sum += c; //~ RACE c
}

// An acquire fence where a release fence is needed, and the other way round.
static void write_d(void) {
    d = 1; //~ RACE d
    atomic_thread_fence(ACQUIRE);
    STORE(fd, 1, RELAXED);
}
static void read_d(void) {
    AWAIT(fd, 1, RELAXED);
    atomic_thread_fence(RELEASE);
    sum += d; //~ RACE d
}

// A fence for signal handlers orders nothing between threads.
static void write_e(void) {
    e = 1; //~ RACE e
    atomic_signal_fence(SEQ_CST);
    STORE(fe, 1, RELAXED);
}
static void read_e(void) {
    AWAIT(fe, 1, RELAXED);
    atomic_signal_fence(SEQ_CST);
    sum += e; //~ RACE e
}

// What is written between the fence and the store is not covered.
static void write_f(void) {
    atomic_thread_fence(RELEASE);
    f = 1; //~ RACE f
    STORE(ff, 1, RELAXED);
}
static void read_f(void) {
    AWAIT(ff, 1, ACQUIRE);
    sum += f; //~ RACE f
}

int main(void) {
    together(write_a, read_a);
    together(write_b, read_b);
    together(write_c, read_c);
    together(write_d, read_d);
    together(write_e, read_e);
    together(write_f, read_f);
    printf("%d\n", sum);
}
