// A large array is filled by steps that all threads hear of, and given back while another thread still reads it.
#include "../include/threads.h"

#include <malloc.h>

enum { STEP = 512, STEPS = 64 };

static long *numbers;
static volatile long seen;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void owner(void) {
    for (long i = 0; i < STEP * STEPS; i++) {
        numbers[i] = i;
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        if (i % STEP == STEP - 1) {
            pthread_barrier_wait(&barrier);
        }
    }
    turn(1);
    free(numbers); //~ RACE numbers
    next_turn();
}

static void user(void) {
    for (int i = 0; i < STEPS; i++) {
        pthread_barrier_wait(&barrier);
    }
    turn(2);
    seen = numbers[3000]; //~ RACE numbers
    next_turn();
}

int main(void) {
    // The memory stays mapped.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    numbers = malloc(STEP * STEPS * sizeof *numbers);
    MUST(numbers);
    MUST(pthread_barrier_init(&barrier, NULL, 2) == 0);
    together(owner, user);
    puts("done");
}
