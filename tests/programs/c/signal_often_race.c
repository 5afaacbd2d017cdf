// A race is found between threads that a timer interrupts all the time.
#include "../include/threads.h"

#include <signal.h>
#include <sys/time.h>

static int data;
static _Thread_local volatile int interrupts;

static void handler(int signal) {
    interrupts += signal != 0;
}

static void busy(void) {
    static _Thread_local long own[64];
    for (int i = 0; interrupts < 5; i++) {
        own[i % 64]++;
        free(malloc(16));
    }
}

static void one(void) {
    busy();
    turn(1);
    data = 1; //~ RACE data
    next_turn();
    busy();
}

static void two(void) {
    turn(2);
    data++; //~ RACE data
    next_turn();
}

int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
    MUST(setitimer(ITIMER_PROF, &often, NULL) == 0);
    together(one, two);
    MUST(setitimer(ITIMER_PROF, &never, NULL) == 0);
    printf("%d\n", data);
}
