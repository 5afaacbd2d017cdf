// A queue with a mutex and conditions: wait, timedwait and clockwait, signal and broadcast.
#include "../include/threads.h"

#include <time.h>

enum { ITEMS = 300, ROOM = 4 };

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
int *queue[ROOM];
int count, taken;
long sums[3];

static void wait(pthread_cond_t *condition, int i) {
    struct timespec deadline;
    clock_gettime(i % 3 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 100;
    switch (i % 3) {
    case 0: pthread_cond_wait(condition, &mutex); break;
    case 1: pthread_cond_timedwait(condition, &mutex, &deadline); break;
    case 2: pthread_cond_clockwait(condition, &mutex, CLOCK_MONOTONIC, &deadline); break;
    }
}

static void producer(void) {
    for (int i = 0; i < ITEMS; i++) {
        int *item = malloc(sizeof *item);
        *item = i;
        pthread_mutex_lock(&mutex);
        while (count == ROOM) {
            wait(&emptied, i);
        }
        queue[count++] = item;
        pthread_mutex_unlock(&mutex);
        pthread_cond_signal(&filled);
    }
}

static void *consumer(void *n) {
    for (int i = 0;; i++) {
        pthread_mutex_lock(&mutex);
        while (count == 0 && taken < ITEMS) {
            wait(&filled, i);
        }
        int *item = count ? queue[--count] : NULL;
        taken += item != NULL;
        pthread_cond_broadcast(taken == ITEMS ? &filled : &emptied);
        pthread_mutex_unlock(&mutex);
        if (!item) {
            return NULL;
        }
        sums[(long)n] += *item;
        free(item);
    }
}

int main(void) {
    pthread_t thread = start(producer);
    crowd(3, consumer);
    join(thread);
    printf("%ld\n", sums[0] + sums[1] + sums[2]);
}
