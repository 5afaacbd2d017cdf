// What a thread writes after it has sent a signal is not ordered by that.
#include "../include/threads.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int file, before, after;

static void sender(void) {
    before = 1;
    MUST(kill(getpid(), SIGUSR1) == 0);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void receiver(void) {
    turn(2);
    struct signalfd_siginfo info;
    MUST(read(file, &info, sizeof info) == sizeof info);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    file = signalfd(-1, &set, 0);
    together(sender, receiver);
}
