// Loops with an end that nobody lives to see: what they access is checked all the same, in front of the loop, in it, or where an inner one ends.
// flags: -O2
// report: varies
// (How often it is seen depends on when the program ends.)
#include "../include/threads.h"

#include <limits.h>

enum { SIZE = 64 };

volatile long number;
volatile long numbers[SIZE];
volatile long last;
volatile long stop;

static void *same(void *unused) {
    for (unsigned long i = 0; i < ~0UL; i++) {
        number = 1; //~ RACE number
    }
    return unused;
}

static void *nest(void *unused) {
    for (long i = 0; i < LONG_MAX; i++) {
        for (int j = 0; j < SIZE; j++) {
            numbers[j] = j; //~ RACE numbers
        }
    }
    return unused;
}

// Only the rounds that go on make this access.
static void *most(void *unused) {
    for (long i = LONG_MAX; i != 0 && !stop; i--) {
        last = 1; //~ RACE last
    }
    return unused;
}

// What the threads have written, by means that no detector sees.
#define IS_WRITTEN(place) \
    __extension__({ \
        long seen; \
        __asm__ volatile("movq " place "(%%rip), %0" : "=r"(seen) : : "memory"); \
        seen != 0; \
    })

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, most, NULL) == 0);
    while (!IS_WRITTEN("last")) sched_yield();
    last = 2; //~ RACE last
    MUST(pthread_create(&thread, NULL, same, NULL) == 0);
    MUST(pthread_create(&thread, NULL, nest, NULL) == 0);
    while (!IS_WRITTEN("number")) sched_yield();
    while (!IS_WRITTEN("numbers+504")) sched_yield();
    number = 2; //~ RACE number
    numbers[SIZE / 2] = 1; //~ RACE numbers
    puts("done");
    return 0;
}
