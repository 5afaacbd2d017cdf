// Runs a command, and says what it took.
//
//   measure run SECONDS FILE COMMAND...    time and memory; ended after so many seconds
//   measure step SECONDS FILE COMMAND...   instructions between the first two `int3` of its main thread
//
// The answer goes to FILE, as `name value` lines. A program of its own, because the kernel's peak of memory of a process begins
// with that of the one that has started it: this one is small. Instructions are counted by stepping, which is exact, slow and
// needs no counter of the processor; addresses are the same in every run.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t late;

static void end_it(int signal) {
    (void)signal;
    late = 1;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int fail(const char *what) {
    perror(what);
    return 2;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: measure run|step SECONDS FILE COMMAND...\n");
        return 2;
    }
    int step = !strcmp(argv[1], "step");
    FILE *answer = fopen(argv[3], "we");
    if (!answer)
        return fail(argv[3]);
    double start = now();
    child = fork();
    if (child < 0)
        return fail("fork");
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        setpgid(0, 0);
        if (step) {
            personality(ADDR_NO_RANDOMIZE);
            ptrace(PTRACE_TRACEME, 0, 0, 0);
        }
        execvp(argv[4], argv + 4);
        perror(argv[4]);
        _exit(127);
    }
    struct sigaction action = {.sa_handler = end_it};
    sigaction(SIGALRM, &action, 0);
    sigaction(SIGTERM, &action, 0);
    sigaction(SIGINT, &action, 0);
    alarm((unsigned)atoi(argv[2]));

    int status = 0, marks = -1; // The first stop is that of exec.
    long steps = 0;
    struct rusage used = {0};
    for (;;) {
        if (wait4(child, &status, step ? __WALL : 0, &used) < 0) {
            if (errno == EINTR)
                continue;
            return fail("wait4");
        }
        if (!WIFSTOPPED(status))
            break;
        int signal = WSTOPSIG(status);
        if (signal == SIGTRAP) {
            siginfo_t info = {0};
            ptrace(PTRACE_GETSIGINFO, child, 0, &info);
            // Virtual machines now and then lose what tells a step from a breakpoint of the processor; `int3` is told by SI_KERNEL,
            // and exec by SI_USER.
            int stepped = info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT;
            if (stepped && marks == 1)
                steps++;
            // Another program in its place, or the mark.
            else if (!stepped)
                marks = marks < 0 || info.si_code == SI_USER ? 0 : marks + 1;
            signal = 0;
        }
        ptrace(marks == 1 ? PTRACE_SINGLESTEP : PTRACE_CONT, child, 0, signal);
    }
    double seconds = now() - start;
    kill(-child, SIGKILL); // What it left behind.
    fprintf(answer, "seconds %.6f\nuser %ld.%06ld\nsystem %ld.%06ld\nkilobytes %ld\n", seconds,
            (long)used.ru_utime.tv_sec, (long)used.ru_utime.tv_usec, (long)used.ru_stime.tv_sec, (long)used.ru_stime.tv_usec,
            used.ru_maxrss);
    fprintf(answer, "late %d\nsteps %ld\nmarks %d\n", (int)late, steps, marks);
    if (WIFSIGNALED(status))
        fprintf(answer, "signal %d\n", WTERMSIG(status));
    else
        fprintf(answer, "status %d\n", WEXITSTATUS(status));
    return fclose(answer) ? fail(argv[3]) : 0;
}
