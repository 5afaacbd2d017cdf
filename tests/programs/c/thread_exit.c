// A thread may end in the middle, deep in calls, with cleanup handlers, by pthread_exit or by cancellation.
#include "../include/threads.h"

int cleaned, cancelled;
int results[2] = {1, 2};

static void cleanup(void *counter) {
    ++*(int *)counter;
}

__attribute__((noinline)) static void deep(int depth) {
    if (depth == 0) {
        pthread_exit(&results[1]);
    }
    deep(depth - 1);
    results[0]++;
}

static void *exits(void *unused) {
    pthread_cleanup_push(cleanup, &cleaned);
    deep(10);
    pthread_cleanup_pop(1);
    return &results[0];
}

static void *waits(void *unused) {
    pthread_cleanup_push(cleanup, &cancelled);
    next_turn();
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    MUST(pthread_create(&one, NULL, exits, NULL) == 0);
    MUST(pthread_create(&two, NULL, waits, NULL) == 0);
    turn(2);
    pthread_cancel(two);
    void *result;
    pthread_join(one, &result);
    printf("%d %d\n", *(int *)result, cleaned);
    pthread_join(two, &result);
    printf("%d %d\n", result == PTHREAD_CANCELED, cancelled);
}
