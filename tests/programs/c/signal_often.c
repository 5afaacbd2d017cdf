// A timer interrupts everything a hundred microseconds apart, and its handler allocates, locks and counts.
#include "../include/threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static long counter, in_handler;
static atomic_int interrupts;
static char *kept;

// It runs in one thread only, which does not hold these when it comes: it is blocked then.
static void handler(int signal) {
    int saved = errno;
    char *block = malloc(64);
    memset(block, signal, 64);
    pthread_mutex_lock(&own);
    free(kept);
    kept = block;
    in_handler++;
    pthread_mutex_unlock(&own);
    atomic_fetch_add(&interrupts, 1);
    errno = saved;
}

static void allow(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(how, &set, NULL);
}

static void interrupted(void) {
    long data[64] = {0};
    while (atomic_load(&interrupts) < 100) {
        allow(SIG_UNBLOCK);
        for (int i = 0; i < 2000; i++) {
            data[i % 64] += i;
            pthread_mutex_lock(&mutex);
            counter++;
            pthread_mutex_unlock(&mutex);
        }
        allow(SIG_BLOCK);
        free(malloc(1000));
        MUST(data[1] > 0);
    }
}

static void other(void) {
    while (atomic_load(&interrupts) < 100) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&own);
        in_handler++;
        pthread_mutex_unlock(&own);
    }
}

int main(void) {
    allow(SIG_BLOCK);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {{0, 100 * 1000}, {0, 100 * 1000}};
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
    together(interrupted, other);
    timer_delete(timer);
    free(kept);
    printf("%d\n", in_handler >= 100 && counter > 0);
}
