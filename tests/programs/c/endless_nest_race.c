// A nest whose outermost loop has an end that only the running program knows, and that never comes, till `main` returns: its accesses are seen all the same.
// flags: -O2
// report: varies
// (How often it is seen depends on when the program ends.)
#include "../include/threads.h"

enum { SIZE = 100, ROUNDS = 3000000 };

static long ring[SIZE];
static volatile long times = -1, width = SIZE;
// Of the loop alone: `main` reads it where no detector looks.
static volatile long rounds;

static long rounds_so_far(void) {
    long now;
    __asm__ volatile("movq %1, %0" : "=r"(now) : "m"(rounds));
    return now;
}

__attribute__((noinline)) static void serve(long left, long size) {
    while (left-- != 0) {
        for (long i = 0; i < size; i++) {
            ring[i] += i; //~ RACE ring
        }
        rounds = rounds + 1;
    }
}

static void *forever(void *unused) {
    serve(times, width);
    return unused;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, forever, NULL) == 0);
    while (rounds_so_far() == 0) {
    }
    ring[SIZE / 2] = 1; //~ RACE ring
    for (long now = rounds_so_far(); rounds_so_far() < now + ROUNDS;) {
    }
    puts("done");
    return 0;
}
