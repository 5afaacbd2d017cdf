// A thread cancelled in a wait has the mutex again when its cleanup handlers run.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting, data;

static void cleanup(void *unused) {
    (void)unused;
    data += 10;
    pthread_mutex_unlock(&mutex);
}

static void *body(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(cleanup, NULL);
    waiting = 1;
    pthread_cond_signal(&condition);
    for (;;) {
        pthread_cond_wait(&condition, &mutex);
    }
    pthread_cleanup_pop(1);
    return unused;
}

int main(void) {
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        void *result;
        waiting = 0;
        pthread_create(&thread, NULL, body, NULL);
        pthread_mutex_lock(&mutex);
        while (!waiting) {
            pthread_cond_wait(&condition, &mutex);
        }
        data++;
        pthread_mutex_unlock(&mutex);
        pthread_cancel(thread);
        pthread_mutex_lock(&mutex);
        data++;
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED) {
            printf("not cancelled\n");
        }
    }
    printf("%d\n", data);
}
