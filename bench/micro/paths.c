// The paths of a check, each in a loop that one thread runs while another one waits, so that checks are made. The
// instructions between the two marks are counted by `deadheat bench --instructions`; without a tracer a mark ends the
// program. Usage: paths CASE N
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
// Not static: what nobody reads would go.
_Atomic long atomic;
long number, numbers[4096];
int half;
char byte, text[64], copy[64];
char *from = text, *place;

static void read8(long n) {
    EACH(n) (void)*(volatile long *)&number;
}

static void write8(long n) {
    EACH(n) number = i;
}

static void write4(long n) {
    EACH(n) half = (int)i;
}

static void write1(long n) {
    EACH(n) byte = (char)i;
}

// Each access is the first of its epoch.
static void first_write8(long n) {
    EACH(n) numbers[i % 4096] = i;
}

static void first_read8(long n) {
    EACH(n) (void)*(volatile long *)&numbers[i % 4096];
}

// May be one of a pointer to the heap, which calls into code that is not instrumented could follow.
static void store_pointer(long n) {
    EACH(n) place = from;
}

static void copy64(long n) {
    EACH(n) memcpy(copy, text, sizeof copy);
}

static __attribute__((noinline)) void callee(long i) {
    number = i;
    keep();
}

static void call(long n) {
    EACH(n) callee(i);
}

static void mutex(long n) {
    EACH(n) {
        pthread_mutex_lock(&lock);
        number = i;
        pthread_mutex_unlock(&lock);
    }
}

static void fetch_add(long n) {
    EACH(n) __c11_atomic_fetch_add(&atomic, 1, __ATOMIC_ACQ_REL);
}

static void atomic_load(long n) {
    EACH(n) __c11_atomic_load(&atomic, __ATOMIC_ACQUIRE);
}

static const struct {
    const char *name;
    void (*run)(long n);
} cases[] = {
    {"read8", read8},     {"write8", write8}, {"write4", write4}, {"write1", write1}, {"first-write8", first_write8},
    {"first-read8", first_read8}, {"store-pointer", store_pointer}, {"copy64", copy64}, {"call", call}, {"mutex", mutex},
    {"fetch-add", fetch_add}, {"atomic-load", atomic_load},
};

static void *wait_for_the_end(void *unused) {
    (void)unused;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "list")) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            puts(cases[i].name);
        }
        return 0;
    }
    if (count != 3) {
        fprintf(stderr, "usage: %s CASE N, or %s list\n", words[0], words[0]);
        return 2;
    }
    long n = atol(words[2]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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
