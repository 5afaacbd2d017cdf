// A handler that `sysv_signal` installs (which `signal` is with -std=c11) runs in a thread that waits for another one, and writes to what
// all others have heard of.
#include "../include/threads.h"

#include <signal.h>
#include <sys/time.h>

enum { STEP = 512, STEPS = 64 };

static long numbers[STEP * STEPS];
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void handler(int signal) {
    turn(2);
    numbers[12000] = signal; //~ RACE numbers
    next_turn();
}

static void owner(void) {
    for (long i = 0; i < STEP * STEPS; i++) {
        numbers[i] = i; //~ RACE numbers
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        if (i % STEP == STEP - 1) {
            pthread_barrier_wait(&barrier);
        }
    }
    next_turn();
    turn(3);
}

static void listener(void) {
    for (int i = 0; i < STEPS; i++) {
        pthread_barrier_wait(&barrier);
    }
    turn(3);
}

int main(void) {
    MUST(pthread_barrier_init(&barrier, NULL, 2) == 0);
    MUST(sysv_signal(SIGALRM, handler) != SIG_ERR);
    pthread_t first = start(owner), second = start(listener);
    struct itimerval once = {.it_value = {0, 20000}};
    MUST(setitimer(ITIMER_REAL, &once, NULL) == 0);
    join(first);
    join(second);
    printf("%ld\n", numbers[12000]);
}
