// A timer orders what was before it was set, not what its setter does until it fires.
#include "../include/threads.h"

#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int timer, before, after;

static void sets(void) {
    before = 1;
    struct itimerspec soon = {.it_value = {0, 100 * 1000}};
    MUST(timerfd_settime(timer, 0, &soon, NULL) == 0);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void waits(void) {
    turn(2);
    uint64_t times;
    MUST(read(timer, &times, sizeof times) == sizeof times);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    together(sets, waits);
}
