// Every kind of mutex orders what is done under it.
#include "../include/threads.h"

enum { KINDS = 6 };

pthread_mutex_t mutexes[KINDS];
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int counters[KINDS + 1];

static void *count(void *unused) {
    for (int i = 0; i < 100; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            pthread_mutex_lock(&mutexes[kind]);
            counters[kind]++;
            pthread_mutex_unlock(&mutexes[kind]);
        }
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        counters[KINDS]++;
        pthread_mutex_unlock(&recursive);
        // Still held.
        counters[KINDS]++;
        pthread_mutex_unlock(&recursive);
    }
    return NULL;
}

int main(void) {
    static const int types[4] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                 PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int kind = 0; kind < KINDS; kind++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        if (kind < 4) {
            pthread_mutexattr_settype(&attributes, types[kind]);
        } else if (kind == 4) {
            pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        } else {
            pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        }
        MUST(pthread_mutex_init(&mutexes[kind], &attributes) == 0);
        pthread_mutexattr_destroy(&attributes);
    }
    crowd(4, count);
    for (int kind = 0; kind < KINDS; kind++) {
        pthread_mutex_destroy(&mutexes[kind]);
    }
    printf("%d %d %d %d %d %d %d\n", counters[0], counters[1], counters[2], counters[3], counters[4], counters[5],
           counters[6]);
}
