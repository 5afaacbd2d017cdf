#include "race.h"
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

// small s: threads with the smallest stacks there are, of which they use half. small o: on stacks that the program brings.
// small a: handlers that race on the smallest alternate stack that they can run on.
static int how;
int handled;
static size_t least;

static void on_signal(int signal) {
    handled += signal;
    free(malloc(100));
}

static void *work(void *unused) {
    volatile char half[PTHREAD_STACK_MIN / 2];
    half[0] = 1;
    half[sizeof half - 1] = 1;
    if (how == 'a') {
        char *stack = mmap(0, least + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        // What lies below the stack is not the handler's.
        mprotect(stack, 4096, PROT_NONE);
        stack_t alternate = {.ss_sp = stack + 4096, .ss_size = least};
        sigaltstack(&alternate, 0);
        pthread_barrier_wait(&meeting);
        raise(SIGUSR1);
        return 0;
    }
    return racer(unused);
}

int main(int count, char **arguments) {
    how = count > 1 ? *arguments[1] : 's';
    least = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 1024 + 4095) / 4096 * 4096;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pthread_barrier_init(&meeting, 0, 2);
    pthread_attr_t attributes;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_attr_init(&attributes);
        if (how == 's')
            pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
        if (how == 'o') {
            size_t size = 2 * PTHREAD_STACK_MIN;
            void *stack = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            pthread_attr_setstack(&attributes, stack, size);
        }
        if (pthread_create(&threads[i], &attributes, work, 0))
            puts("no thread");
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    puts("done");
    return 4;
}
