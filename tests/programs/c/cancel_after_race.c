// What is done after a thread was cancelled is not ordered with its cleanup handler; what was done before is.
#include "../include/threads.h"

#include <semaphore.h>

static sem_t ready, never;
static int before, after;

static void clean(void *unused) {
    (void)unused;
    turn(2);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

static void *waits(void *argument) {
    pthread_cleanup_push(clean, NULL);
    sem_post(&ready);
    for (;;) {
        sem_wait(&never);
    }
    pthread_cleanup_pop(1);
    return argument;
}

int main(void) {
    pthread_t thread;
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
    sem_wait(&ready);
    before = 1;
    MUST(pthread_cancel(thread) == 0);
    turn(1);
    after = 2; //~ RACE after
    next_turn();
    join(thread);
}
