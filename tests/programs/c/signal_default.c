// Fatal signals have the default action until the program says otherwise, and keep its handler.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
static sigjmp_buf back;
static void handler(int signal) { siglongjmp(back, signal); }
int main(void) {
    struct sigaction action;
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
    for (int i = 0; i < 6; i++) {
        sigaction(signals[i], NULL, &action);
        printf("%d %d\n", action.sa_handler == SIG_DFL, action.sa_flags);
    }
    printf("%d\n", signal(SIGSEGV, handler) == SIG_DFL);
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            *(volatile int *)8 = 1;
        }
    }
    printf("%d\n", signal(SIGSEGV, SIG_DFL) == handler);
    printf("%d\n", signal(SIGSEGV, SIG_DFL) == SIG_DFL);
    fflush(stdout);
    raise(SIGFPE);
}
