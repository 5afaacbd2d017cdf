// A handler reads what the sender writes only after it has sent the signal.
#include "../include/threads.h"

#include <signal.h>

static int before, after;

static void handler(int signal) {
    if (signal == SIGUSR1) {
        int sum = before;
        sum += after; //~ RACE after
        before = sum;
    }
}

static void receiver(void) {
    next_turn();
    invisible_wait(2);
    // It comes now, and not before.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("%d\n", before);
}

static pthread_t target;

static void sender(void) {
    turn(2);
    before = 1;
    MUST(pthread_kill(target, SIGUSR1) == 0);
    after = 1; //~ RACE after
    next_turn();
}

int main(void) {
    signal(SIGUSR1, handler);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    target = start(receiver);
    pthread_t other = start(sender);
    join(target);
    join(other);
}
