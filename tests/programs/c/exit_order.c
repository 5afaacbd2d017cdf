// Functions of atexit run in the reverse order, with threads around that are still at work, and see what was joined.
#include "../include/threads.h"

#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, joined;
static atomic_int going;

static void first(void) {
    printf("first %d\n", joined);
}

static void second(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    puts("second");
}

static void registers_more(void) {
    atexit(second);
    puts("registers");
}

static void ends(void) {
    joined = 1;
}

static void *goes_on(void *argument) {
    atomic_store(&going, 1);
    for (;;) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    atexit(first);
    atexit(registers_more);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, goes_on, NULL) == 0);
    pthread_detach(thread);
    join(start(ends));
    while (!atomic_load(&going)) {
    }
    return 0;
}
