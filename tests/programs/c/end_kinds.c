// A program without a race ends as it would: handlers, buffers, status, also from a thread.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int data;

__attribute__((destructor)) static void destructor(void) {
    printf("destructor %d\n", data);
}

static void handler(void) {
    printf("handler %d\n", data);
}

static void ender(void) {
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
    printf("thread");
    exit(9);
}

int main(void) {
    atexit(handler);
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
    join(start(ender));
}
