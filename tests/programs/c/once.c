// pthread_once: everyone comes after what the one did, also those who did not wait for it.
#include "../include/threads.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int value, runs;
int seen[8];

static void initialise(void) {
    runs++;
    sched_yield();
    value = 42;
}

static void *body(void *n) {
    pthread_once(&once, initialise);
    seen[(long)n] = value;
    pthread_once(&once, initialise);
    return NULL;
}

int main(void) {
    crowd(8, body);
    printf("%d %d %d\n", runs, seen[0], seen[7]);
}
