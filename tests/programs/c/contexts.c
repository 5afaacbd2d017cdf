// Contexts of swapcontext: several stacks of one thread, which may go on in another.
#include <ucontext.h>

#include "../include/threads.h"

enum { STACK = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

struct task {
    ucontext_t own, back;
    char *stack;
    int local, done;
};

static _Thread_local struct task *current;

static void body(void) {
    struct task *task = current;
    int here[32] = {0};
    for (int i = 0; i < 20; i++) {
        here[i]++;
        task->local += here[i];
        swapcontext(&task->own, &task->back);
    }
    task->done = 1;
    setcontext(&task->back);
}

static void run(struct task *task) {
    while (!task->done) {
        current = task;
        swapcontext(&task->back, &task->own);
    }
}

static void *work(void *argument) {
    struct task tasks[3] = {0};
    for (int i = 0; i < 3; i++) {
        tasks[i].stack = malloc(STACK);
        getcontext(&tasks[i].own);
        tasks[i].own.uc_stack.ss_sp = tasks[i].stack;
        tasks[i].own.uc_stack.ss_size = STACK;
        makecontext(&tasks[i].own, body, 0);
    }
    for (int i = 0; i < 3; i++) {
        run(&tasks[i]);
        pthread_mutex_lock(&mutex);
        total += tasks[i].local;
        pthread_mutex_unlock(&mutex);
        free(tasks[i].stack);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", total);
}
