#include "race.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// ends HOW: races, then ends in some way while another thread runs; or goes on. f: in a child of fork.
static volatile int ticks;

static void allocates(int signal) {
    (void)signal;
    char *block = malloc(64 + (size_t)ticks % 100);
    block[0] = 1;
    free(block);
    ticks = ticks + 1;
}

__attribute__((noinline)) static void overrun(char *volatile block) {
    for (int i = -16; i < 48; i++)
        block[i] = 0x41;
}

static void aborts(int signal) {
    (void)signal;
    abort();
}

static void *runs(void *unused) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    for (volatile int i = 0;; i++)
        if (i % 1000 == 0)
            usleep(1000);
    return unused;
}

static void *leaves(void *unused) {
    (void)unused;
    exit(9);
}

// The race is in a child, and so is the status.
static int forks(void) {
    pid_t child = fork();
    if (child == 0) {
        race();
        puts("raced");
        exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    pthread_t thread;
    if (count > 1 && *arguments[1] == 'f')
        return forks();
    race();
    puts("raced");
    fflush(stdout);
    pthread_create(&thread, 0, runs, 0);
    switch (count > 1 ? *arguments[1] : 0) {
    case 'a':
        signal(SIGUSR1, aborts);
        raise(SIGUSR1);
        break;
    case 'e':
        pthread_create(&thread, 0, leaves, 0);
        for (;;)
            pause();
    case 'k':
        kill(getpid(), SIGKILL);
        break;
    case 'm': // in the allocator, whose data it has overwritten
        overrun(malloc(32));
        for (int i = 0; i < 100; i++)
            free(malloc(32));
        abort();
    case 's':
        *(volatile int *)8 = 1;
        break;
    case 'h': {
        struct sigaction action = {.sa_handler = allocates, .sa_flags = SA_RESTART};
        sigaction(SIGALRM, &action, 0);
        struct itimerval timer = {{0, 500}, {0, 500}};
        setitimer(ITIMER_REAL, &timer, 0);
        volatile int sum = 0;
        while (ticks < 300)
            for (int i = 0; i < 100; i++)
                sum += i;
        memset(&timer, 0, sizeof timer);
        setitimer(ITIMER_REAL, &timer, 0);
        puts("ticked");
        break;
    }
    case 'r': // until somebody has killed the reporter
        getchar();
        race();
        puts("went on");
        break;
    }
    return 4;
}
