// All ways to wait for a thread's end.
#include "../include/threads.h"

#include <time.h>

int data[4];

static void *body(void *n) {
    data[(long)n] = (int)(long)n + 1;
    return &data[(long)n];
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) {
        MUST(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    }
    void *results[4];
    MUST(pthread_join(threads[0], &results[0]) == 0);
    while (pthread_tryjoin_np(threads[1], &results[1]) == EBUSY) {
        sched_yield();
    }
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 100;
    MUST(pthread_timedjoin_np(threads[2], &results[2], &deadline) == 0);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 100;
    MUST(pthread_clockjoin_np(threads[3], &results[3], CLOCK_MONOTONIC, &deadline) == 0);
    for (int i = 0; i < 4; i++) {
        printf("%d\n", *(int *)results[i]);
    }
}
