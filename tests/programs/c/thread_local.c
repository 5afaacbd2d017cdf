// Every thread has its own variable; and the place of an ended thread's variable is used again by another.
#include "../include/threads.h"

#include <sys/stat.h>

_Thread_local int mine;
_Thread_local char large[4096];

__attribute__((noinline)) static int *address(void) {
    return &mine;
}

static void *count(void *n) {
    for (int i = 0; i < 1000; i++) {
        ++*address();
        large[i]++;
    }
    MUST(mine == 1000 && large[7] == 1);
    next_turn();
    return NULL;
}

// The kernel knows how many threads there are.
static long threads(void) {
    struct stat tasks;
    MUST(stat("/proc/self/task", &tasks) == 0);
    return (long)tasks.st_nlink;
}

int main(void) {
    crowd(8, count);
    // Not joined, so not ordered.
    long before = threads();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, count, NULL) == 0);
        pthread_detach(thread);
        invisible_wait(9 + i);
        while (threads() != before) {
            sched_yield();
        }
    }
    printf("%d\n", mine);
}
