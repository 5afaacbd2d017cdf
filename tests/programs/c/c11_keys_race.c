// Destructors of tss_t run in their own threads, and nothing orders them among each other.
#include <threads.h>

#include "../include/threads.h"

static tss_t key;
static int freed;

static void destroy(void *value) {
    turn((int)(long)value);
    freed++; //~ RACE freed
    next_turn();
}

static int work(void *argument) {
    MUST(tss_set(key, argument) == thrd_success);
    return 0;
}

int main(void) {
    MUST(tss_create(&key, destroy) == thrd_success);
    thrd_t threads[2];
    for (long i = 0; i < 2; i++) {
        MUST(thrd_create(&threads[i], work, (void *)(i + 1)) == thrd_success);
    }
    for (int i = 0; i < 2; i++) {
        MUST(thrd_join(threads[i], NULL) == thrd_success);
    }
    printf("%d\n", freed);
}
