// Timers, and sleep that is cut short, fill what another thread uses.
#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include "../include/touch.h"

static struct itimerval present, former;
static struct itimerspec set = {.it_value = {1000, 0}}, left, before, file_left, file_before;
static struct timespec rest, clock_rest;
static timer_t timer;

static void wake(int signal) {
    (void)signal;
}

static void use(void) {
    turn(1);
    TOUCH(present, 31); //~ RACE getitimer
    TOUCH(former, 0); //~ RACE setitimer
    TOUCH(timer, 0); //~ RACE timer_create
    TOUCH(set, 8); //~ RACE set
    TOUCH(left, 0); //~ RACE timer_gettime
    TOUCH(before, 31); //~ RACE timer_settime
    TOUCH(file_left, 0); //~ RACE timerfd_gettime
    TOUCH(file_before, 31); //~ RACE timerfd_settime
    TOUCH(rest, 15); //~ RACE nanosleep
    TOUCH(clock_rest, 0); //~ RACE clock_nanosleep
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(getitimer(ITIMER_VIRTUAL, &present) == 0); //~ RACE getitimer
    struct itimerval none = {{0, 0}, {0, 0}}, often = {{0, 1000}, {0, 1000}};
    MUST(setitimer(ITIMER_VIRTUAL, &none, &former) == 0); //~ RACE setitimer
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0); //~ RACE timer_create
    timer_t mine = timer;
    struct itimerspec other = {.it_value = {1000, 0}};
    MUST(timer_settime(mine, 0, &set, NULL) == 0); //~ RACE set
    MUST(timer_gettime(mine, &left) == 0); //~ RACE timer_gettime
    MUST(timer_settime(mine, 0, &other, &before) == 0); //~ RACE timer_settime
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    MUST(timerfd_gettime(file, &file_left) == 0); //~ RACE timerfd_gettime
    MUST(timerfd_settime(file, 0, &other, &file_before) == 0); //~ RACE timerfd_settime
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    struct timespec long_time = {1000, 0};
    MUST(nanosleep(&long_time, &rest) != 0); //~ RACE nanosleep
    MUST(clock_nanosleep(CLOCK_REALTIME, 0, &long_time, &clock_rest) == EINTR); //~ RACE clock_nanosleep
    MUST(setitimer(ITIMER_REAL, &none, NULL) == 0);
    timer_delete(mine);
    next_turn();
}

int main(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGALRM, wake);
    together(use, functions);
}
