// A cleanup handler runs at cancellation, which orders nothing by itself.
#include "../include/threads.h"

int cleaned;

static void cleanup(void *unused) {
    cleaned = 1; //~ RACE cleaned
    next_turn();
}

static void *waits(void *unused) {
    pthread_cleanup_push(cleanup, NULL);
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
    pthread_cancel(thread);
    turn(2);
    printf("%d\n", cleaned); //~ RACE cleaned
    pthread_join(thread, NULL);
}
