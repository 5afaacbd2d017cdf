// Handlers leave by siglongjmp, out of many frames and with a mutex held that is given back where the jump lands.
#include "../include/threads.h"

#include <setjmp.h>
#include <signal.h>

static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local sigjmp_buf back;

static void handler(int signal) {
    siglongjmp(back, signal);
}

__attribute__((noinline)) static void deep(int depth) {
    if (depth > 0) {
        deep(depth - 1);
    } else {
        pthread_mutex_lock(&mutex);
        data++;
        raise(SIGUSR1);
    }
    data = -1000;
}

static void *work(void *argument) {
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(back, 1) == 0) {
            deep(20);
        }
        data++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    signal(SIGUSR1, handler);
    crowd(3, work);
    printf("%d\n", data);
}
