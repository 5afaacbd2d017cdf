// The last call of a function takes its place in the stack; what is done in it is locked.
// flags: -O2
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

__attribute__((noinline)) static int last(int n) {
    data += n;
    return pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static int middle(int n) {
    return last(n + 1);
}

__attribute__((noinline)) static int first(int n) {
    pthread_mutex_lock(&mutex);
    return middle(n);
}

static void *work(void *argument) {
    for (int i = 0; i < 300; i++) {
        MUST(first(i % 3) == 0);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", data);
}
