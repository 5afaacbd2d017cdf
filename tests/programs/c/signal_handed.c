// A handler reads what the thread that sent the signal has written before; also one that a timer sends.
#include "../include/threads.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static int message, timed, by_clock;
static volatile sig_atomic_t sum;
static sem_t done;
static pthread_t target;

static void handler(int signal) {
    if (signal == SIGUSR1) {
        sum += message;
    } else if (signal == SIGALRM) {
        sum += timed;
    } else {
        sum += by_clock;
    }
    sem_post(&done);
}

static void waits(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    next_turn();
    invisible_wait(2);
    printf("%d\n", sum);
}

static void sends(void) {
    turn(2);
    for (int i = 0; i < 20; i++) {
        message = 1;
        MUST(pthread_kill(target, SIGUSR1) == 0);
        while (sem_wait(&done) != 0) {
        }
    }
    timed = 100;
    struct itimerval soon = {{0, 0}, {0, 100}};
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    while (sem_wait(&done) != 0) {
    }
    by_clock = 1000;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec in_time = {.it_value = {0, 1000}};
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &in_time, NULL) == 0);
    while (sem_wait(&done) != 0) {
    }
    next_turn();
}

int main(void) {
    sem_init(&done, 0, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    target = start(waits);
    pthread_t other = start(sends);
    join(target);
    join(other);
}
