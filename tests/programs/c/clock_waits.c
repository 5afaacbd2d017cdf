// Locks, conditions and semaphores with a time limit by a clock.
#include "../include/threads.h"

#include <semaphore.h>
#include <time.h>

enum { ROUNDS = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int counter, shared, ready, posted[ROUNDS];

static struct timespec late(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += 1000;
    return time;
}

static void one(void) {
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit = late(CLOCK_MONOTONIC);
        MUST(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit) == 0);
        counter++;
        ready++;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        MUST(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &limit) == 0);
        shared++;
        pthread_rwlock_unlock(&rwlock);
        posted[i] = i;
        sem_post(&semaphore);
    }
}

static void two(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit = late(CLOCK_MONOTONIC), other = late(CLOCK_REALTIME);
        pthread_mutex_lock(&mutex);
        while (ready <= i) {
            MUST(pthread_cond_clockwait(&condition, &mutex, CLOCK_REALTIME, &other) == 0);
        }
        counter++;
        pthread_mutex_unlock(&mutex);
        MUST(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &other) == 0);
        sum += shared >= 0;
        pthread_rwlock_unlock(&rwlock);
        MUST(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &limit) == 0);
        sum += posted[i];
    }
    printf("%d\n", sum);
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    together(one, two);
    printf("%d %d\n", counter, shared);
}
