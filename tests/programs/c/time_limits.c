// Waits that end by their time limit; none of them is ordered, none is a race, and all say so.
#include "../include/threads.h"

#include <poll.h>
#include <semaphore.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t semaphore;

static void body(void) {
    struct timespec past = {0};
    printf("%d\n", pthread_rwlock_timedrdlock(&rwlock, &past) == ETIMEDOUT);
    printf("%d\n", sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    pthread_mutex_lock(&mutex);
    printf("%d\n", pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    nanosleep(&past, NULL);
    printf("%d\n", poll(NULL, 0, 0));
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    pthread_rwlock_wrlock(&rwlock);
    join(start(body));
    pthread_rwlock_unlock(&rwlock);
}
