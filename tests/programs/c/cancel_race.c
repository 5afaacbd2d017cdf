// The cleanup handler of a cancelled thread races with what is done without waiting for it.
#include "../include/threads.h"

#include <unistd.h>

static int ends[2], data;

static void clean(void *argument) {
    (void)argument;
    data = 1; //~ RACE data
    next_turn();
}

static void *waits(void *argument) {
    pthread_cleanup_push(clean, NULL);
    next_turn();
    char byte;
    MUST(read(ends[0], &byte, 1) == 1);
    pthread_cleanup_pop(0);
    return argument;
}

int main(void) {
    MUST(pipe(ends) == 0);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
    turn(2);
    pthread_cancel(thread);
    invisible_wait(2);
    printf("%d\n", data); //~ RACE data
    join(thread);
}
