// Threads that nobody joins, one after the other. The next one gets the stack, the thread id and the place of the last,
// but is not ordered after it.
#include "../include/threads.h"

#include <sys/stat.h>

enum { THREADS = 20 };

int data;

static void body(void) {
    data++; //~ RACE data
    next_turn();
}

// The kernel knows how many threads there are.
static long threads(void) {
    struct stat tasks;
    MUST(stat("/proc/self/task", &tasks) == 0);
    return (long)tasks.st_nlink;
}

int main(void) {
    long before = threads();
    for (int i = 0; i < THREADS; i++) {
        pthread_detach(start(body));
        invisible_wait(i + 1);
        while (threads() != before) {
            sched_yield();
        }
    }
    puts("done");
}
