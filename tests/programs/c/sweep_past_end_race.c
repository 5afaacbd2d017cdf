// A loop whose steps go past the number that would end it goes on for ever: its accesses are seen all the same.
// flags: -O2
// report: varies
// (How often it is seen depends on when the program ends.)
#include "../include/threads.h"
#include <sched.h>
#include <stdatomic.h>

volatile long number;
volatile unsigned long end = 4;
atomic_ulong rounds;

static void *forever(void *unused) {
    for (unsigned long i = 1, last = end; i != last; i += 2) {
        number = 1; //~ RACE number
        atomic_store_explicit(&rounds, i, memory_order_relaxed);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, forever, NULL) == 0);
    while (atomic_load_explicit(&rounds, memory_order_relaxed) < 1001) {
        sched_yield();
    }
    number = 2; //~ RACE number
    puts("done");
    return 0;
}
