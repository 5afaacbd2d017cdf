// A lock that was not got orders nothing, whatever the call that tried.
#include "../include/threads.h"

#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int tried, timed, clocked;

static void owner(void) {
    pthread_mutex_lock(&mutex);
    tried = 1; //~ RACE tried
    timed = 1; //~ RACE timed
    clocked = 1; //~ RACE clocked
    next_turn();
    turn(3);
    pthread_mutex_unlock(&mutex);
}

static void other(void) {
    turn(2);
    struct timespec past = {0};
    MUST(pthread_mutex_trylock(&mutex) == EBUSY);
    tried = 2; //~ RACE tried
    MUST(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    timed = 2; //~ RACE timed
    MUST(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    clocked = 2; //~ RACE clocked
    next_turn();
}

int main(void) {
    together(owner, other);
    printf("%d %d %d\n", tried, timed, clocked);
}
