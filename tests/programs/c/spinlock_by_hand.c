// Locks out of atomics: test and set, a ticket lock, Peterson's algorithm.
#include "../include/atomics.h"

atomic_flag taken = ATOMIC_FLAG_INIT;
atomic_uint ticket, serving;
atomic_int interested[2], last;
int by_flag, by_ticket, by_peterson;

static void *count(void *argument) {
    int n = (int)(long)argument;
    for (int i = 0; i < 200; i++) {
        while (atomic_flag_test_and_set_explicit(&taken, ACQUIRE)) sched_yield();
        by_flag++;
        atomic_flag_clear_explicit(&taken, RELEASE);

        unsigned mine = atomic_fetch_add_explicit(&ticket, 1, RELAXED);
        AWAIT(serving, mine, ACQUIRE);
        by_ticket++;
        STORE(serving, mine + 1, RELEASE);

        STORE(interested[n], 1, SEQ_CST);
        STORE(last, n, SEQ_CST);
        while (LOAD(interested[1 - n], SEQ_CST) && LOAD(last, SEQ_CST) == n) sched_yield();
        by_peterson++;
        STORE(interested[n], 0, SEQ_CST);
    }
    return NULL;
}

int main(void) {
    crowd(2, count);
    printf("%d %d %d\n", by_flag, by_ticket, by_peterson);
}
