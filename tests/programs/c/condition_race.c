// What is written after the signal and outside the lock is not ordered before the waiter's read.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready, late;

static void waiter(void) {
    pthread_mutex_lock(&mutex);
    while (!ready) {
        pthread_cond_wait(&condition, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    turn(2);
    printf("%d\n", late); //~ RACE late
}

static void signaller(void) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&condition);
    late = 1; //~ RACE late
    next_turn();
}

int main(void) {
    together(waiter, signaller);
}
