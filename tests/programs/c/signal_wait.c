// Who waits for signals comes after who sent them; some carry a value.
#include "../include/threads.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 60 };

static int data, values[ROUNDS];
static pthread_t waiter;
static pthread_barrier_t barrier;

static void sender(void) {
    for (int i = 0; i < ROUNDS; i++) {
        data = values[i] = i;
        union sigval value = {.sival_int = i};
        switch (i % 4) {
        case 0:
            MUST(kill(getpid(), SIGUSR1) == 0);
            break;
        case 1:
            MUST(pthread_kill(waiter, SIGUSR1) == 0);
            break;
        case 2:
            MUST(sigqueue(getpid(), SIGUSR1, value) == 0);
            break;
        default:
            MUST(pthread_sigqueue(waiter, SIGUSR1, value) == 0);
        }
        pthread_barrier_wait(&barrier);
    }
}

static void receiver(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        siginfo_t info = {.si_signo = 0};
        struct timespec limit = {1000, 0};
        int number = SIGUSR1;
        switch (i % 3) {
        case 0:
            MUST(sigwait(&set, &number) == 0);
            break;
        case 1:
            number = sigwaitinfo(&set, &info);
            break;
        default:
            number = sigtimedwait(&set, &info, &limit);
        }
        MUST(number == SIGUSR1 && (i % 4 < 2 || i % 3 == 0 || info.si_value.sival_int == i));
        sum += data + values[i];
        pthread_barrier_wait(&barrier);
    }
    printf("%d\n", sum);
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    waiter = start(receiver);
    pthread_t other = start(sender);
    join(waiter);
    join(other);
}
