// Detached threads that tell of their end through a semaphore, by both ways of detaching.
#include "../include/threads.h"

#include <semaphore.h>

int data[2];
sem_t done;

static void *body(void *n) {
    data[(long)n] = 1;
    sem_post(&done);
    return NULL;
}

int main(void) {
    sem_init(&done, 0, 0);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, body, (void *)0) == 0);
    pthread_detach(thread);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    MUST(pthread_create(&thread, &attributes, body, (void *)1) == 0);
    pthread_attr_destroy(&attributes);
    sem_wait(&done);
    sem_wait(&done);
    printf("%d\n", data[0] + data[1]);
}
