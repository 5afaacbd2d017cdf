// Coroutines that go from thread to thread, handed on under a lock, on stacks of their own.
#include "../include/threads.h"

#include <ucontext.h>

enum { COROUTINES = 8, STEPS = 40, STACK = 64 << 10 };

struct coroutine {
    ucontext_t own, back;
    char *stack;
    int steps;
    long sum;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct coroutine all[COROUTINES];
static int queue[COROUTINES * STEPS + COROUTINES], first, last, ended;

static void body(int n) {
    struct coroutine *self = &all[n];
    volatile long local = 0;
    while (self->steps < STEPS) {
        local += self->steps++;
        self->sum = local;
        // Goes on in another thread.
        swapcontext(&self->own, &self->back);
    }
    setcontext(&self->back);
}

static void *work(void *argument) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (ended == COROUTINES) {
            pthread_mutex_unlock(&mutex);
            return argument;
        }
        int n = first < last ? queue[first++] : -1;
        pthread_mutex_unlock(&mutex);
        if (n < 0) {
            sched_yield();
            continue;
        }
        swapcontext(&all[n].back, &all[n].own);
        pthread_mutex_lock(&mutex);
        if (all[n].steps < STEPS) {
            queue[last++] = n;
        } else {
            ended++;
        }
        pthread_mutex_unlock(&mutex);
    }
}

int main(void) {
    for (int i = 0; i < COROUTINES; i++) {
        all[i].stack = malloc(STACK);
        getcontext(&all[i].own);
        all[i].own.uc_stack.ss_sp = all[i].stack;
        all[i].own.uc_stack.ss_size = STACK;
        makecontext(&all[i].own, (void (*)(void))body, 1, i);
        queue[last++] = i;
    }
    crowd(3, work);
    long sum = 0;
    for (int i = 0; i < COROUTINES; i++) {
        sum += all[i].sum;
        free(all[i].stack);
    }
    printf("%ld\n", sum);
}
