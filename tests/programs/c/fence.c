// Fences that synchronise: on the writer's side, on the reader's, on both, of each strength.
#include "../include/atomics.h"

int a, b, c, d, e, sum;
atomic_int fa, fb, fc, fd, fe;

static void write_a(void) {
    a = 1;
    atomic_thread_fence(RELEASE);
    STORE(fa, 1, RELAXED);
}
static void read_a(void) {
    AWAIT(fa, 1, ACQUIRE);
    sum += a;
}

static void write_b(void) {
    b = 1;
    STORE(fb, 1, RELEASE);
}
static void read_b(void) {
    AWAIT(fb, 1, RELAXED);
    atomic_thread_fence(ACQUIRE);
    sum += b;
}

static void write_c(void) {
    c = 1;
    atomic_thread_fence(ACQ_REL);
    // A fence covers every later store, not only the next.
    STORE(fa, 2, RELAXED);
    STORE(fc, 1, RELAXED);
}
static void read_c(void) {
    AWAIT(fc, 1, RELAXED);
    atomic_thread_fence(ACQ_REL);
    sum += c;
}

static void write_d(void) {
    d = 1;
    atomic_thread_fence(SEQ_CST);
    STORE(fd, 1, RELAXED);
}
static void read_d(void) {
    AWAIT(fd, 1, RELAXED);
    // And every earlier load.
    LOAD(fa, RELAXED);
    atomic_thread_fence(SEQ_CST);
    sum += d;
}

static void write_e(void) {
    e = 1;
    atomic_thread_fence(RELEASE);
    atomic_fetch_add_explicit(&fe, 1, RELAXED);
}
static void read_e(void) {
    while (!atomic_fetch_add_explicit(&fe, 0, RELAXED)) {
        sched_yield();
    }
    atomic_thread_fence(ACQUIRE);
    sum += e;
}

int main(void) {
    together(write_a, read_a);
    together(write_b, read_b);
    together(write_c, read_c);
    together(write_d, read_d);
    together(write_e, read_e);
    printf("%d\n", sum);
}
