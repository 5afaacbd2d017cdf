// A relaxed store ends a release sequence, also one of the same thread (since C++20), and also if a read-modify-write
// follows it.
#include "../include/atomics.h"

int a, b, sum;
atomic_int fa, fb;

static void write_a(void) {
    a = 1; //~ RACE a
    STORE(fa, 1, RELEASE);
    STORE(fa, 2, RELAXED);
    next_turn();
}
static void read_a(void) {
    turn(2);
    LOAD(fa, ACQUIRE);
    sum += a; //~ RACE a
}

static void write_b(void) {
    b = 1; //~ RACE b
    STORE(fb, 1, RELEASE);
    next_turn();
}
static void break_b(void) {
    turn(3);
    STORE(fb, 2, RELAXED);
    atomic_fetch_add_explicit(&fb, 1, RELAXED);
    next_turn();
}
static void read_b(void) {
    turn(4);
    LOAD(fb, ACQUIRE);
    sum += b; //~ RACE b
}

int main(void) {
    together(write_a, read_a);
    pthread_t breaker = start(break_b);
    together(write_b, read_b);
    join(breaker);
    printf("%d\n", sum);
}
