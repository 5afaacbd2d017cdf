// trylock, timedlock and clocklock order if they got the lock.
#include "../include/threads.h"

#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void lock(int i) {
    struct timespec deadline;
    clock_gettime(i % 3 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 100;
    switch (i % 3) {
    case 0:
        while (pthread_mutex_trylock(&mutex) == EBUSY) {
            sched_yield();
        }
        break;
    case 1: MUST(pthread_mutex_timedlock(&mutex, &deadline) == 0); break;
    case 2: MUST(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline) == 0); break;
    }
}

static void *count(void *unused) {
    for (int i = 0; i < 300; i++) {
        lock(i);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    crowd(3, count);
    printf("%d\n", counter);
}
