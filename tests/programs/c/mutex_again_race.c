// A mutex that was made anew knows nothing of what the old one at its place has ordered.
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void one(void) {
    turn(1);
    pthread_mutex_lock(&mutex);
    data = 1; //~ RACE data
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    pthread_mutex_init(&mutex, NULL);
    next_turn();
}

static void two(void) {
    turn(2);
    pthread_mutex_lock(&mutex);
    printf("%d\n", data); //~ RACE data
    pthread_mutex_unlock(&mutex);
    next_turn();
}

int main(void) {
    together(one, two);
}
