// The memory that was an alternate stack is another thread's array, and nothing orders the two.
// report: varies
#include "../include/threads.h"

#include <signal.h>

static char *memory;

static void handler(int signal) {
    volatile int local = signal; //~ RACE stack
    memory = (char *)&local;
}

static void one(void) {
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    MUST(sigaltstack(&stack, NULL) == 0);
    turn(1);
    raise(SIGUSR1);
    next_turn();
}

static void two(void) {
    turn(2);
    char *at;
    __asm__ volatile("movq %1, %0" : "=r"(at) : "m"(memory));
    *at = 1; //~ RACE stack
    next_turn();
}

int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    together(one, two);
}
