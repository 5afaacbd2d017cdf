// A mutex that lends priority orders only those who take it.
#include "../include/threads.h"

static pthread_mutex_t inherit;
static int data;

static void careful(void) {
    turn(1);
    MUST(pthread_mutex_lock(&inherit) == 0);
    data++; //~ RACE data
    MUST(pthread_mutex_unlock(&inherit) == 0);
    next_turn();
}

static void careless(void) {
    turn(2);
    data++; //~ RACE data
    next_turn();
}

int main(void) {
    pthread_mutexattr_t attributes;
    MUST(pthread_mutexattr_init(&attributes) == 0);
    MUST(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    MUST(pthread_mutex_init(&inherit, &attributes) == 0);
    together(careful, careless);
    printf("%d\n", data);
}
