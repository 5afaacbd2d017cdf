// Who reads a timer's expiry comes after who set it.
#include "../include/threads.h"

#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20 };

static int timer, data;
static pthread_barrier_t barrier;

static void sets(void) {
    for (int i = 0; i < ROUNDS; i++) {
        data = i;
        struct itimerspec soon = {.it_value = {0, 100 * 1000}};
        MUST(timerfd_settime(timer, 0, &soon, NULL) == 0);
        pthread_barrier_wait(&barrier);
    }
}

static void waits(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t times;
        MUST(read(timer, &times, sizeof times) == sizeof times);
        sum += data;
        pthread_barrier_wait(&barrier);
    }
    printf("%d\n", sum);
}

int main(void) {
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    together(sets, waits);
}
