// Sets of signals, and what is told of signals, are where another thread looks.
#include "../include/touch.h"

#include <signal.h>
#include <time.h>

static sigset_t empty, full, added, removed, asked, mask, of_thread, pending, waited = {{1 << (SIGUSR1 - 1)}};
static struct sigaction former, present = {.sa_handler = SIG_DFL};
static stack_t stack;
static int number;
static siginfo_t info, in_time;

static void use(void) {
    turn(1);
    TOUCH(empty, 0); //~ RACE sigemptyset
    TOUCH(full, 7); //~ RACE sigfillset
    TOUCH(added, 1); //~ RACE sigaddset
    TOUCH(removed, 1); //~ RACE sigdelset
    TOUCH(asked, 0); //~ RACE sigismember
    TOUCH(mask, 0); //~ RACE sigprocmask
    TOUCH(of_thread, 0); //~ RACE pthread_sigmask
    TOUCH(pending, 0); //~ RACE sigpending
    TOUCH(former, 0); //~ RACE sigaction
    present.sa_flags = 0; //~ RACE present
    TOUCH(stack, 16); //~ RACE sigaltstack
    TOUCH(number, 0); //~ RACE sigwait
    TOUCH(waited, 7); //~ RACE waited
    TOUCH(info, 0); //~ RACE sigwaitinfo
    TOUCH(in_time, 0); //~ RACE sigtimedwait
    next_turn();
}

static void functions(void) {
    turn(2);
    sigemptyset(&empty); //~ RACE sigemptyset
    sigfillset(&full); //~ RACE sigfillset
    sigaddset(&added, SIGUSR1); //~ RACE sigaddset
    sigdelset(&removed, SIGUSR1); //~ RACE sigdelset
    MUST(!sigismember(&asked, SIGUSR1)); //~ RACE sigismember
    MUST(sigprocmask(SIG_BLOCK, NULL, &mask) == 0); //~ RACE sigprocmask
    MUST(pthread_sigmask(SIG_BLOCK, NULL, &of_thread) == 0); //~ RACE pthread_sigmask
    MUST(sigpending(&pending) == 0); //~ RACE sigpending
    MUST(sigaction(SIGUSR2, NULL, &former) == 0); //~ RACE sigaction
    MUST(sigaction(SIGUSR2, &present, NULL) == 0); //~ RACE present
    MUST(sigaltstack(NULL, &stack) == 0); //~ RACE sigaltstack
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    MUST(sigwait(&set, &number) == 0); //~ RACE sigwait
    pthread_kill(pthread_self(), SIGUSR1);
    MUST(sigwaitinfo(&set, &info) == SIGUSR1); //~ RACE sigwaitinfo
    pthread_kill(pthread_self(), SIGUSR1);
    MUST(sigtimedwait(&set, &in_time, NULL) == SIGUSR1); //~ RACE sigtimedwait
    pthread_kill(pthread_self(), SIGUSR1);
    int again;
    MUST(sigwait(&waited, &again) == 0); //~ RACE waited
    next_turn();
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    together(use, functions);
}
