// Readers together, writers alone; by all calls that take the lock.
#include "../include/threads.h"

#include <time.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int left, right, torn;
int seen[4];

static struct timespec soon(clockid_t clock) {
    struct timespec deadline;
    clock_gettime(clock, &deadline);
    deadline.tv_sec += 100;
    return deadline;
}

static void lock_to_read(int i) {
    struct timespec deadline = soon(i % 4 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    switch (i % 4) {
    case 0: pthread_rwlock_rdlock(&lock); break;
    case 1: MUST(pthread_rwlock_timedrdlock(&lock, &deadline) == 0); break;
    case 2: MUST(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &deadline) == 0); break;
    case 3: while (pthread_rwlock_tryrdlock(&lock) != 0) sched_yield(); break;
    }
}

static void lock_to_write(int i) {
    struct timespec deadline = soon(i % 4 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    switch (i % 4) {
    case 0: pthread_rwlock_wrlock(&lock); break;
    case 1: MUST(pthread_rwlock_timedwrlock(&lock, &deadline) == 0); break;
    case 2: MUST(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &deadline) == 0); break;
    case 3: while (pthread_rwlock_trywrlock(&lock) != 0) sched_yield(); break;
    }
}

static void *body(void *argument) {
    long n = (long)argument;
    for (int i = 0; i < 100; i++) {
        if (n < 2) {
            lock_to_write(i);
            left++;
            right++;
        } else {
            lock_to_read(i);
            seen[n] += left != right;
        }
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    crowd(4, body);
    printf("%d %d %d\n", left, right, seen[2] + seen[3]);
}
