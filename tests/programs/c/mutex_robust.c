// A thread dies with a robust mutex; the next to lock it is told so, and comes after what the dead one did.
#include "../include/threads.h"

pthread_mutex_t mutex;
int data;

static void dies(void) {
    pthread_mutex_lock(&mutex);
    data = 1;
    next_turn();
}

static void inherits(void) {
    turn(2);
    MUST(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    data++;
    pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    MUST(pthread_mutex_init(&mutex, &attributes) == 0);
    together(dies, inherits);
    pthread_mutex_lock(&mutex);
    printf("%d\n", data);
    pthread_mutex_unlock(&mutex);
}
