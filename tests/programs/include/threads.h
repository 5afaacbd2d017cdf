// Threads of functions without arguments.
#ifndef THREADS_H
#define THREADS_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invisible.h"

// Ends the program if a call that must work did not.
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

typedef void thread_body(void);

static inline void *threads_run(void *body) {
    ((thread_body *)body)();
    return NULL;
}

static inline pthread_t start(thread_body *body) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, threads_run, (void *)body) == 0);
    return thread;
}

static inline void join(pthread_t thread) {
    MUST(pthread_join(thread, NULL) == 0);
}

// Runs two threads to their end.
static inline void together(thread_body *one, thread_body *two) {
    pthread_t first = start(one), second = start(two);
    join(first);
    join(second);
}

// Runs `count` threads of one function to their end; each is given its number.
static inline void crowd(int count, void *(*body)(void *)) {
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++) {
        MUST(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    }
    for (int i = 0; i < count; i++) {
        join(threads[i]);
    }
    free(threads);
}

#endif
