// Waits that ended by their time limit order nothing.
#include "../include/threads.h"

#include <semaphore.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int data[3];

static void one(void) {
    turn(1);
    data[0] = 1; //~ RACE sem
    data[1] = 1; //~ RACE rwlock
    data[2] = 1; //~ RACE mutex
    next_turn();
}

static void two(void) {
    struct timespec past = {0};
    turn(2);
    MUST(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    data[0]++; //~ RACE sem
    MUST(pthread_rwlock_timedrdlock(&rwlock, &past) == ETIMEDOUT);
    data[1]++; //~ RACE rwlock
    MUST(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    data[2]++; //~ RACE mutex
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    pthread_rwlock_wrlock(&rwlock);
    pthread_mutex_lock(&mutex);
    together(one, two);
    printf("%d\n", data[0] + data[1] + data[2]);
}
