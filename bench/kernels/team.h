// A team of threads with a barrier, and a source of numbers that are the same everywhere.
#ifndef TEAM_H
#define TEAM_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 2;
static pthread_barrier_t team_barrier;

static inline void meet(void) {
    pthread_barrier_wait(&team_barrier);
}

// Numbers from 0 up to 1.
static inline double next_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)(1u << 31);
}

// Arguments: the number of threads, then the size.
static inline long arguments(int count, char **words, long size) {
    if (count > 1) {
        threads = atoi(words[1]);
    }
    if (count > 2) {
        size = atol(words[2]);
    }
    if (threads < 1 || size < 1) {
        fprintf(stderr, "usage: %s [THREADS [SIZE]]\n", words[0]);
        exit(2);
    }
    return size;
}

// Runs `body` in all threads; each is given its number.
static inline void run_team(void *(*body)(void *)) {
    pthread_barrier_init(&team_barrier, NULL, (unsigned)threads);
    pthread_t *members = malloc(sizeof *members * (size_t)threads);
    for (long i = 0; i < threads; i++) {
        if (pthread_create(&members[i], NULL, body, (void *)i) != 0) {
            perror("pthread_create");
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(members[i], NULL);
    }
    free(members);
}

// Says whether the result was right, as the exit status, too.
static inline int verdict(int right, double checksum) {
    printf("%s %.6g\n", right ? "ok" : "WRONG", checksum);
    return !right;
}

#endif
