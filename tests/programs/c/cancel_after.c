// What a thread does because it was cancelled comes after what was done before that: in a call that waits, in one for another thread
// to end, and where it asks.
#include "../include/threads.h"

#include <semaphore.h>
#include <unistd.h>

static sem_t ready, never;
static int before[3], seen;
static pthread_t idle;

static void clean(void *argument) {
    seen += before[(long)argument];
}

static void *idles(void *unused) {
    for (;;) {
        sem_wait(&never);
    }
    return unused;
}

static void *work(void *argument) {
    long kind = (long)argument;
    pthread_cleanup_push(clean, argument);
    sem_post(&ready);
    switch (kind) {
    case 0:
        sem_wait(&never);
        break;
    case 1:
        pthread_join(idle, NULL);
        break;
    default:
        for (;;) {
            pthread_testcancel();
        }
    }
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    MUST(pthread_create(&idle, NULL, idles, NULL) == 0);
    for (int round = 0; round < 20; round++) {
        for (long kind = 0; kind < 3; kind++) {
            pthread_t thread;
            MUST(pthread_create(&thread, NULL, work, (void *)kind) == 0);
            sem_wait(&ready);
            before[kind] = round;
            MUST(pthread_cancel(thread) == 0);
            join(thread);
        }
    }
    MUST(pthread_cancel(idle) == 0);
    join(idle);
    printf("%d\n", seen);
}
