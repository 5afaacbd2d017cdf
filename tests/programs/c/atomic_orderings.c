// Every pair of orderings that synchronises: message passing by stores and by read-modify-writes.
#include "../include/atomics.h"

int data[10];
atomic_int flags[10];
int sum;

static void writer(void) {
    for (int i = 0; i < 10; i++) {
        data[i] = i;
        switch (i) {
        case 0: STORE(flags[i], 1, RELEASE); break;
        case 1: STORE(flags[i], 1, RELEASE); break;
        case 2: STORE(flags[i], 1, RELEASE); break;
        case 3: STORE(flags[i], 1, SEQ_CST); break;
        case 4: STORE(flags[i], 1, SEQ_CST); break;
        case 5: atomic_fetch_add_explicit(&flags[i], 1, RELEASE); break;
        case 6: atomic_fetch_or_explicit(&flags[i], 1, ACQ_REL); break;
        case 7: atomic_exchange_explicit(&flags[i], 1, SEQ_CST); break;
        case 8: flags[i] = 1; break;
        case 9: {
            int zero = 0;
            atomic_compare_exchange_strong_explicit(&flags[i], &zero, 1, RELEASE, RELAXED);
            break;
        }
        }
    }
}

static void reader(void) {
    for (int i = 9; i >= 0; i--) {
        switch (i) {
        case 0: AWAIT(flags[i], 1, ACQUIRE); break;
        case 1: AWAIT(flags[i], 1, SEQ_CST); break;
        case 2: AWAIT(flags[i], 1, CONSUME); break;
        case 3: AWAIT(flags[i], 1, ACQUIRE); break;
        case 4: AWAIT(flags[i], 1, SEQ_CST); break;
        case 5: while (!atomic_fetch_add_explicit(&flags[i], 0, ACQUIRE)) sched_yield(); break;
        case 6: while (!atomic_exchange_explicit(&flags[i], 0, ACQ_REL)) sched_yield(); break;
        case 7: while (!atomic_fetch_and_explicit(&flags[i], 1, SEQ_CST)) sched_yield(); break;
        case 8: while (!flags[i]) sched_yield(); break;
        case 9: {
            int one = 1;
            while (!atomic_compare_exchange_weak_explicit(&flags[i], &one, 2, ACQUIRE, RELAXED)) {
                one = 1;
                sched_yield();
            }
            break;
        }
        }
        sum += data[i];
    }
}

int main(void) {
    together(writer, reader);
    printf("%d\n", sum);
}
