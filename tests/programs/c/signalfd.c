// Who reads a signal from a file comes after who sent it, with kill or with sigqueue.
#include "../include/threads.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static int file, data, values[ROUNDS];
static pthread_barrier_t barrier;

static void sender(void) {
    for (int i = 0; i < ROUNDS; i++) {
        data = values[i] = i;
        if (i % 2) {
            MUST(kill(getpid(), SIGUSR1) == 0);
        } else {
            MUST(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = i}) == 0);
        }
        pthread_barrier_wait(&barrier);
    }
}

static void receiver(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct signalfd_siginfo info;
        MUST(read(file, &info, sizeof info) == sizeof info);
        sum += data + values[i] + (i % 2 ? i : info.ssi_int);
        pthread_barrier_wait(&barrier);
    }
    printf("%d\n", sum);
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    file = signalfd(-1, &set, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    together(sender, receiver);
}
