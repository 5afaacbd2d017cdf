// A handler posts a semaphore for what its thread has written, in the midst of all that the thread does.
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "../include/threads.h"

enum { ROUNDS = 1000 };

static int slots[ROUNDS];
static volatile sig_atomic_t written, told;
static sem_t posted;
static atomic_int done;

static void handler(int signal) {
    (void)signal;
    while (told < written) {
        told = told + 1;
        sem_post(&posted);
    }
}

static void busy(void) {
    static long data[512];
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    struct itimerval often = {{0, 50}, {0, 50}};
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        // Every access is the first of its epoch: each is told to the runtime.
        pthread_mutex_lock(&mutex);
        for (int i = 0; i < 512; i++) {
            data[i]++;
            free(malloc(16));
        }
        if (written < ROUNDS) {
            slots[written] = written + 1;
            written = written + 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void reader(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&posted) != 0) {
        }
        sum += slots[i];
    }
    printf("%ld\n", sum);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
}

int main(void) {
    MUST(sem_init(&posted, 0, 0) == 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    // Only the busy thread takes the signal.
    MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    MUST(sigaction(SIGALRM, &action, NULL) == 0);
    together(busy, reader);
}
