// Two threads that race on `raced`, whatever the schedule: they meet at a barrier that nothing sees behind.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int raced;
static pthread_barrier_t meeting;

static void *racer(void *unused) {
    (void)unused;
    pthread_barrier_wait(&meeting);
    raced++;
    return 0;
}

// Runs `work` in two threads. False if they cannot be made.
static int two(const pthread_attr_t *attributes, void *(*work)(void *)) {
    pthread_t a, b;
    if (pthread_create(&a, attributes, work, 0))
        return 0;
    if (pthread_create(&b, attributes, work, 0)) {
        puts("one thread without the other");
        exit(99);
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 1;
}

__attribute__((unused)) static void race(void) {
    pthread_barrier_init(&meeting, 0, 2);
    if (!two(0, racer))
        puts("no threads");
}
