// Mutexes and the like are destroyed and made again at the same place, as another kind.
#include "../include/threads.h"

#include <semaphore.h>

static union {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    sem_t semaphore;
} place;
static int counter;

static void *by_mutex(void *argument) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&place.mutex);
        counter++;
        pthread_mutex_unlock(&place.mutex);
    }
    return argument;
}

static void *by_rwlock(void *argument) {
    for (int i = 0; i < 100; i++) {
        pthread_rwlock_wrlock(&place.rwlock);
        counter++;
        pthread_rwlock_unlock(&place.rwlock);
    }
    return argument;
}

static void *by_spin(void *argument) {
    for (int i = 0; i < 100; i++) {
        pthread_spin_lock(&place.spin);
        counter++;
        pthread_spin_unlock(&place.spin);
    }
    return argument;
}

static void *by_semaphore(void *argument) {
    for (int i = 0; i < 100; i++) {
        sem_wait(&place.semaphore);
        counter++;
        sem_post(&place.semaphore);
    }
    return argument;
}

int main(void) {
    for (int round = 0; round < 5; round++) {
        MUST(pthread_mutex_init(&place.mutex, NULL) == 0);
        crowd(2, by_mutex);
        MUST(pthread_mutex_destroy(&place.mutex) == 0);
        MUST(pthread_rwlock_init(&place.rwlock, NULL) == 0);
        crowd(2, by_rwlock);
        MUST(pthread_rwlock_destroy(&place.rwlock) == 0);
        MUST(pthread_spin_init(&place.spin, PTHREAD_PROCESS_PRIVATE) == 0);
        crowd(2, by_spin);
        MUST(pthread_spin_destroy(&place.spin) == 0);
        MUST(sem_init(&place.semaphore, 0, 1) == 0);
        crowd(2, by_semaphore);
        MUST(sem_destroy(&place.semaphore) == 0);
    }
    printf("%d\n", counter);
}
