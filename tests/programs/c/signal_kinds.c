// All functions that install a handler answer with the one of before, and the handlers see what came before the signal.
#include "../include/threads.h"

#include <signal.h>

__sighandler_t __sysv_signal(int signal, __sighandler_t handler);

static int data, calls;

static void handler(int signal) {
    data += signal;
    calls++;
}

static void raises(void) {
    data++;
    raise(SIGUSR1);
    raise(SIGUSR2);
    data++;
}

int main(void) {
    MUST(signal(SIGUSR1, handler) == SIG_DFL);
    MUST(ssignal(SIGUSR1, handler) == handler);
    MUST(sysv_signal(SIGUSR1, SIG_IGN) == handler);
    MUST(__sysv_signal(SIGUSR1, handler) == SIG_IGN);
    MUST(sysv_signal(SIGUSR2, handler) == SIG_DFL);
    join(start(raises));
    // They were for one signal only.
    MUST(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
    MUST(signal(SIGUSR2, SIG_IGN) == SIG_DFL);
    printf("%d %d\n", data, calls);
}
