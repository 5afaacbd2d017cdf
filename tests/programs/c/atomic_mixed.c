// Plain before the threads start and after they end, atomic in between; an atomic and a plain load together.
#include "../include/atomics.h"

int counter, constant;
int seen[4];

static void *count(void *n) {
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
        seen[(long)n] += (long)n % 2 ? constant : __atomic_load_n(&constant, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void) {
    counter = 5;
    constant = 1;
    crowd(4, count);
    printf("%d %d %d\n", counter, seen[0], seen[1]);
}
