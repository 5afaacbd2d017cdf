// A thousand threads at once, that take a lock and meet at barriers.
#include "../include/threads.h"

enum { THREADS = 1000 };

pthread_barrier_t barrier;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter, seen;
int slots[THREADS];

static void *body(void *n) {
    slots[(long)n] = 1;
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        for (int i = 0; i < THREADS; i++) {
            seen += slots[i];
        }
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    crowd(THREADS, body);
    printf("%d %d\n", counter, seen);
}
