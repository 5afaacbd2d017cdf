// What the programs of instruction counts share. Each case is a loop that one thread runs while another one waits, so that
// checks are made. The instructions between the two marks are counted by `deadheat bench --instructions`; without a tracer a
// mark ends the program. Usage: PROGRAM CASE N
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK __asm__ volatile("int3" ::: "memory")
// The loop is not to be undone, turned or vectorised.
#define EACH(n)                                                                                                        \
    _Pragma("clang loop unroll(disable) vectorize(disable)") for (long i = 0; i < (n); i++, keep())

static inline void keep(void) {
    __asm__ volatile("" ::: "memory");
}

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct path {
    const char *name;
    void (*run)(long n);
};

static void *wait_for_the_end(void *unused) {
    (void)unused;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static int run_case(const struct path *cases, size_t number, int count, char **words) {
    if (count == 2 && !strcmp(words[1], "list")) {
        for (size_t i = 0; i < number; i++) {
            puts(cases[i].name);
        }
        return 0;
    }
    if (count != 3) {
        fprintf(stderr, "usage: %s CASE N, or %s list\n", words[0], words[0]);
        return 2;
    }
    long n = atol(words[2]);
    for (size_t i = 0; i < number; i++) {
        if (strcmp(cases[i].name, words[1])) {
            continue;
        }
        pthread_t other;
        pthread_barrier_init(&barrier, NULL, 2);
        pthread_create(&other, NULL, wait_for_the_end, NULL);
        pthread_barrier_wait(&barrier);
        // First for what happens once only, then in another epoch to be counted. By the same call: another one would be
        // another place in the program.
        for (volatile int counted = 0; counted < 2; counted++) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
            if (counted) {
                MARK;
            }
            cases[i].run(counted ? n : 4096);
            if (counted) {
                MARK;
            }
        }
        pthread_barrier_wait(&barrier);
        pthread_join(other, NULL);
        return 0;
    }
    fprintf(stderr, "there is no case `%s`\n", words[1]);
    return 2;
}

// The program of some cases.
#define MAIN(cases)                                                                                                    \
    int main(int count, char **words) {                                                                                \
        return run_case(cases, sizeof cases / sizeof *cases, count, words);                                            \
    }
