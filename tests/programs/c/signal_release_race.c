// A handler posts a semaphore; what its thread writes afterwards is not ordered by that.
#include <semaphore.h>
#include <signal.h>

#include "../include/threads.h"

static int before, after;
static sem_t posted;

static void handler(int signal, siginfo_t *info, void *context) {
    (void)context;
    if (signal == SIGUSR1 && info->si_code == SI_TKILL) {
        sem_post(&posted);
    }
}

static void sender(void) {
    before = 1;
    raise(SIGUSR1);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void receiver(void) {
    turn(2);
    sem_wait(&posted);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    MUST(sem_init(&posted, 0, 0) == 0);
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESETHAND}, now;
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    // The program sees its own handler.
    MUST(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_sigaction == handler && now.sa_flags & SA_RESETHAND);
    together(sender, receiver);
    MUST(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    MUST(signal(SIGUSR2, SIG_IGN) == SIG_DFL && signal(SIGUSR2, SIG_DFL) == SIG_IGN);
}
