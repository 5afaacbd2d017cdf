// Signal handlers run in the middle of anything, the detector's own work included; also sigwait and pthread_kill.
#include "../include/threads.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

_Thread_local volatile sig_atomic_t handled;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;
_Atomic int got;

static void handler(int signal) {
    int saved = errno;
    handled++;
    errno = saved;
}

static void *count(void *unused) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        char *block = malloc(100);
        block[i % 100] = 1;
        free(block);
    }
    return NULL;
}

static void sends_to_itself(void) {
    for (int i = 0; i < 100; i++) {
        pthread_kill(pthread_self(), SIGUSR1);
    }
    got = handled;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    crowd(4, count);
    setitimer(ITIMER_REAL, &never, NULL);
    join(start(sends_to_itself));
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    int number = 0;
    sigwait(&set, &number);
    printf("%d %d %d\n", counter, got >= 100, number == SIGUSR2);
}
