// Waits that gave up because of the time order nothing.
#include "../include/threads.h"

#include <semaphore.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int a, b, c, d;

static void holds(void) {
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    turn(1);
    a = 1; //~ RACE mutex
    b = 1; //~ RACE reading
    c = 1; //~ RACE writing
    d = 1; //~ RACE semaphore
    next_turn();
    invisible_wait(2);
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_unlock(&mutex);
}

static void gives_up(void) {
    turn(2);
    struct timespec past = {0};
    MUST(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    int sum = a; //~ RACE mutex
    MUST(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    sum += b; //~ RACE reading
    MUST(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    sum += c; //~ RACE writing
    MUST(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past) != 0);
    sum += d; //~ RACE semaphore
    printf("%d\n", sum);
    next_turn();
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    together(holds, gives_up);
}
