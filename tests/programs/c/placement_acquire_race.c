// What is checked after a lock is taken does not stand for what came before, even if a function takes it.
#include "../include/threads.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile long data;

static __attribute__((noinline)) void take(void) {
    pthread_mutex_lock(&lock);
}

static void one(void) {
    turn(1);
    take();
    data = 3; //~ RACE data
    pthread_mutex_unlock(&lock);
    next_turn();
}

static void other(void) {
    turn(2);
    long seen = data; //~ RACE data
    take();
    data = seen + 1;
    pthread_mutex_unlock(&lock);
    next_turn();
}

int main(void) {
    together(one, other);
}
