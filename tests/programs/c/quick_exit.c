// quick_exit from a thread: its handlers run, those of atexit do not, and the status is its own.
#include <unistd.h>

#include "../include/threads.h"

static int data;

static void at_exit(void) {
    puts("not this one");
}

static void at_quick_exit_handler(void) {
    printf("quick %d\n", data);
    fflush(stdout);
}

static void *end(void *argument) {
    data = 7;
    quick_exit(3);
    return argument;
}

int main(void) {
    atexit(at_exit);
    at_quick_exit(at_quick_exit_handler);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, end, NULL) == 0);
    pthread_join(thread, NULL);
    pause();
}
