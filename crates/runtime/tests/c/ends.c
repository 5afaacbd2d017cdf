// The ways in which a process ends, each in a child: the status is the same with and without the runtime.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(void) { fputs("handler\n", stdout); }
static void *exits(void *unused) { (void)unused; exit(5); }
static void *outlives(void *unused) { (void)unused; usleep(1000); return NULL; }
static void *quits(void *unused) { (void)unused; pthread_exit(NULL); }
static void ignores(int signal) { (void)signal; }
static int deep(volatile char *above) { volatile char here[4096]; here[0] = above[0]; return deep(here) + here[0]; }

static void end(int way) {
    pthread_t thread;
    atexit(say);
    at_quick_exit(say);
    switch (way) {
    case 0: exit(3);
    case 1: _exit(4);
    case 2: quick_exit(6);
    case 3: pthread_create(&thread, NULL, exits, NULL); for (;;) pause();
    case 4: pthread_create(&thread, NULL, outlives, NULL); pthread_exit(NULL);
    case 5: abort();
    case 6: signal(SIGABRT, ignores); abort();
    case 7: *(volatile int *)16 = 1; break;
    case 8: raise(SIGSEGV); break;
    case 9: __builtin_trap();
    case 10: kill(getpid(), SIGTERM); for (;;) pause();
    case 11: _Exit(8);
    case 12: { volatile char c = 0; exit(deep(&c)); }
    case 13: pthread_create(&thread, NULL, quits, NULL); pthread_join(thread, NULL); exit(9);
    }
}

int main(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (int way = 0; way < 14; way++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            // Also what is not the process that the runtime began in, and one that starts anew.
            end(way);
            _exit(100);
        }
        int status;
        waitpid(child, &status, 0);
        printf("%d: %d %d\n", way, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return 7;
}
