// A join that gave up does not order.
#include "../include/threads.h"

#include <time.h>

int a, b;

static void child(void) {
    a = 1; //~ RACE tried
    b = 1; //~ RACE timed
    next_turn();
    invisible_wait(2);
}

int main(void) {
    pthread_t thread = start(child);
    turn(2);
    int tried = pthread_tryjoin_np(thread, NULL);
    int sum = a; //~ RACE tried
    struct timespec past = {0};
    int timed = pthread_timedjoin_np(thread, NULL, &past);
    sum += b; //~ RACE timed
    next_turn();
    join(thread);
    printf("%d %d %d\n", sum, tried == EBUSY, timed == ETIMEDOUT);
}
