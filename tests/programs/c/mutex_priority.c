// Mutexes that lend or limit priority.
#include "../include/threads.h"

static pthread_mutex_t inherit, protect;
static int a, b;

static void *work(void *argument) {
    for (int i = 0; i < 200; i++) {
        MUST(pthread_mutex_lock(&inherit) == 0);
        a++;
        MUST(pthread_mutex_unlock(&inherit) == 0);
        if (pthread_mutex_lock(&protect) == 0) {
            b++;
            MUST(pthread_mutex_unlock(&protect) == 0);
        }
    }
    return argument;
}

int main(void) {
    pthread_mutexattr_t attributes;
    MUST(pthread_mutexattr_init(&attributes) == 0);
    MUST(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    MUST(pthread_mutex_init(&inherit, &attributes) == 0);
    // Not everybody may use a ceiling: then it is a mutex like others.
    MUST(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_NONE) == 0);
    MUST(pthread_mutex_init(&protect, &attributes) == 0);
    crowd(4, work);
    printf("%d %d\n", a, b);
}
