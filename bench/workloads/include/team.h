// A team of threads with a barrier.
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>

#include "workload.h"

static pthread_barrier_t team_barrier;
static void (*team_body)(long me);

static inline void meet(void) {
    pthread_barrier_wait(&team_barrier);
}

// Takes and lets go a lock that the racing version forgets.
static inline void guard(pthread_mutex_t *lock) {
    if (!RACING) {
        pthread_mutex_lock(lock);
    }
}

static inline void unguard(pthread_mutex_t *lock) {
    if (!RACING) {
        pthread_mutex_unlock(lock);
    }
}

// A barrier that the racing version forgets.
static inline void guard_meet(void) {
    if (!RACING) {
        meet();
    }
}

static inline void *team_member(void *argument) {
    team_body((long)argument);
    return NULL;
}

// Runs `body` in all threads; each is given its number.
static inline void run_team(void (*body)(long me)) {
    pthread_t members[MOST_THREADS];
    team_body = body;
    pthread_barrier_init(&team_barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++) {
        int error = pthread_create(&members[i], NULL, team_member, (void *)i);
        if (error) {
            fprintf(stderr, "cannot start thread %ld of %d (error %d): choose fewer\n", i + 1, threads, error);
            exit(2);
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(members[i], NULL);
    }
    pthread_barrier_destroy(&team_barrier);
}

#endif
