// A handler posts a semaphore in the middle of a loop that is checked where it is left: what the loop did before comes before who waits.
// flags: -O2 -lm
#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#include "../include/threads.h"

enum { SIZE = 1 << 20 };

static double numbers[SIZE];
static volatile int size = SIZE;
static volatile sig_atomic_t told;
static sem_t posted;

static void handler(int signal) {
    (void)signal;
    if (numbers[0] != 0 && !told) {
        told = 1;
        sem_post(&posted);
    }
}

__attribute__((noinline)) static void fill(double *at, int count) {
    for (int i = 0; i < count; i++) {
        at[i] = cos(i) + exp(-i) + sin(i * 0.5);
    }
}

static void writer(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    fill(numbers, size);
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    if (!told) {
        sem_post(&posted);
    }
}

static void reader(void) {
    while (sem_wait(&posted) != 0) {
    }
    printf("%d\n", numbers[0] != 0);
}

int main(void) {
    MUST(sem_init(&posted, 0, 0) == 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    // Only the writer takes the signal.
    MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    MUST(sigaction(SIGALRM, &action, NULL) == 0);
    together(writer, reader);
}
