// A new thread gets the stack of one that ended, though nothing orders the two; also a stack of the program's own.
#include "../include/threads.h"

#include <sys/stat.h>

enum { SIZE = 1 << 16 };

static _Alignas(4096) char stack[2 * SIZE];

__attribute__((noinline)) static void fill(char *start, int value) {
    memset(start, value, SIZE / 2);
}

static void *body(void *n) {
    char local[SIZE / 2];
    fill(local, (int)(long)n);
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
    pthread_attr_t attributes;
    long before = threads();
    for (long i = 0; i < 20; i++) {
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        if (i % 2) {
            pthread_attr_setstack(&attributes, stack, sizeof stack);
        }
        pthread_t thread;
        MUST(pthread_create(&thread, &attributes, body, (void *)i) == 0);
        pthread_attr_destroy(&attributes);
        invisible_wait((int)i + 1);
        while (threads() != before) {
            sched_yield();
        }
    }
    puts("done");
}
