// A cleanup handler has the mutex that pthread_cond_wait gave back, but who goes on without it races with the handler.
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int locked, data;

static void unlock(void *unused) {
    (void)unused;
    locked++;
    data = 1; //~ RACE data
    pthread_mutex_unlock(&mutex);
    next_turn();
}

static void *waits(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    for (;;) {
        pthread_cond_wait(&never, &mutex);
    }
    pthread_cleanup_pop(1);
    return argument;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
    pthread_cancel(thread);
    turn(2);
    printf("%d ", data); //~ RACE data
    pthread_mutex_lock(&mutex);
    printf("%d\n", locked);
    pthread_mutex_unlock(&mutex);
    join(thread);
}
