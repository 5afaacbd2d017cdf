// Threads that are cancelled, in calls that wait and at any place; their cleanup handlers and destructors run.
#include "../include/threads.h"

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static sem_t ready, never;
static int ends[2], cleaned, destroyed, data[5];

static void clean(void *argument) {
    pthread_mutex_lock(&mutex);
    cleaned++;
    *(int *)argument += 1;
    pthread_mutex_unlock(&mutex);
}

static void destroy(void *argument) {
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)argument;
    pthread_mutex_unlock(&mutex);
    free(argument);
}

static void *work(void *argument) {
    long kind = (long)argument;
    int *own = malloc(sizeof *own);
    *own = 1;
    pthread_setspecific(key, own);
    pthread_cleanup_push(clean, &data[kind]);
    data[kind] = 1;
    char byte;
    switch (kind) {
    case 0:
        sem_post(&ready);
        MUST(read(ends[0], &byte, 1) < 0);
        break;
    case 1:
        sem_post(&ready);
        sem_wait(&never);
        break;
    case 2:
        sem_post(&ready);
        for (;;) {
            data[kind] = 1;
            pthread_testcancel();
        }
    case 3:
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        sem_post(&ready);
        for (;;) {
        }
    default:
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        sem_post(&ready);
        for (int i = 0; i < 100; i++) {
            data[kind] = 1;
            pthread_testcancel();
        }
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        for (;;) {
            sleep(1000);
        }
    }
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    MUST(pipe(ends) == 0 && pthread_key_create(&key, destroy) == 0);
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[5];
        for (long i = 0; i < 5; i++) {
            MUST(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
        }
        for (int i = 0; i < 5; i++) {
            sem_wait(&ready);
        }
        int sum = 0;
        for (int i = 0; i < 5; i++) {
            MUST(pthread_cancel(threads[i]) == 0);
            void *result;
            MUST(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
            sum += data[i];
        }
        printf("%d ", sum);
    }
    printf("%d %d\n", cleaned, destroyed);
}
