// Handlers on alternate stacks, in the midst of locks, allocations and accesses; one is left by siglongjmp.
#include "../include/threads.h"

#include <setjmp.h>
#include <signal.h>

enum { ROUNDS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static _Thread_local sigjmp_buf back;
static _Thread_local int jumps;

static void handler(int signal) {
    int local[64];
    for (int i = 0; i < 64; i++) {
        local[i] = i;
    }
    pthread_mutex_lock(&mutex);
    counter += local[1];
    pthread_mutex_unlock(&mutex);
    if (signal == SIGUSR2) {
        siglongjmp(back, 1);
    }
}

static void *work(void *argument) {
    stack_t stack = {.ss_size = 1 << 16};
    stack.ss_sp = malloc(stack.ss_size);
    MUST(sigaltstack(&stack, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        raise(SIGUSR1);
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        if (sigsetjmp(back, 1) == 0) {
            raise(SIGUSR2);
        } else {
            jumps++;
        }
    }
    MUST(jumps == ROUNDS);
    stack_t none = {.ss_flags = SS_DISABLE};
    MUST(sigaltstack(&none, NULL) == 0);
    free(stack.ss_sp);
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    crowd(3, work);
    printf("%ld\n", counter);
}
