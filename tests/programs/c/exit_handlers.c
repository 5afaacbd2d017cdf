// Functions of atexit run after main, the last one first, behind all that was joined; with threads of their own.
#include "../include/threads.h"

static int data, order;

static void *add(void *argument) {
    data += (int)(long)argument;
    return argument;
}

static void last(void) {
    printf("last %d %d\n", ++order, data);
}

static void first(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, add, (void *)5L) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    printf("first %d %d\n", ++order, data);
}

int main(void) {
    atexit(last);
    atexit(first);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, add, (void *)2L) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    return 0;
}
