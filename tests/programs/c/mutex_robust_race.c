// A robust mutex that nobody made consistent refuses everybody, so it orders nothing any more.
#include "../include/threads.h"

static pthread_mutex_t mutex;
static int data;

static void dies(void) {
    pthread_mutex_lock(&mutex);
}

static void refused(void) {
    MUST(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    turn(1);
    data = 1; //~ RACE data
    next_turn();
    MUST(pthread_mutex_unlock(&mutex) == EPERM);
}

static void refused_too(void) {
    turn(2);
    MUST(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    printf("%d\n", data); //~ RACE data
    next_turn();
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    MUST(pthread_mutex_init(&mutex, &attributes) == 0);
    join(start(dies));
    MUST(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    // Unlocked without a word.
    MUST(pthread_mutex_unlock(&mutex) == 0);
    together(refused, refused_too);
}
