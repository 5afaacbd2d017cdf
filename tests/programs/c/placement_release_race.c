// What is checked before a lock is given back does not stand for what comes after, even if a function does it.
#include "../include/threads.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long data;

static __attribute__((noinline)) void give_back(void) {
    pthread_mutex_unlock(&lock);
}

static void one(void) {
    turn(1);
    pthread_mutex_lock(&lock);
    data = 1;
    give_back();
    data = 2; //~ RACE data
    next_turn();
}

static void other(void) {
    turn(2);
    pthread_mutex_lock(&lock);
    data = 3; //~ RACE data
    give_back();
    next_turn();
}

int main(void) {
    together(one, other);
}
