// A signal orders what its sender did before; not what it does afterwards, and nothing of what the receiver does.
#include "../include/threads.h"

#include <signal.h>
#include <unistd.h>

static int before, after;

static void sender(void) {
    before = 1;
    MUST(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 7}) == 0);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void receiver(void) {
    turn(2);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    siginfo_t info;
    MUST(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_value.sival_int == 7);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    together(sender, receiver);
}
