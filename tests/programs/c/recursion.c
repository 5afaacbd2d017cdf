// Functions that call themselves, each other and through pointers share a structure behind a lock that is taken again and again.
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int data;

static void odd(int depth);

static void even(int depth) {
    pthread_mutex_lock(&mutex);
    data++;
    if (depth > 0) {
        odd(depth - 1);
    }
    data++;
    pthread_mutex_unlock(&mutex);
}

static void odd(int depth) {
    void (*volatile next)(int) = even;
    data++;
    if (depth > 0) {
        next(depth - 1);
    }
    data++;
}

static void *work(void *argument) {
    for (int i = 0; i < 50; i++) {
        even(40);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", data);
}
