// A thread cancelled in pthread_cond_wait has the mutex again when its cleanup handler runs.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int waiting, data;

static void unlock(void *unused) {
    data++;
    pthread_mutex_unlock(&mutex);
}

static void *waits(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    waiting = 1;
    for (;;) {
        pthread_cond_wait(&never, &mutex);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
    for (int there = 0; !there;) {
        sched_yield();
        pthread_mutex_lock(&mutex);
        there = waiting;
        data++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_cancel(thread);
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d\n", data > 2);
}
