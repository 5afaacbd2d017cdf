// A process forks while its threads are busy; of what they do without a lock the races are found, in the parent and in the children.
// report: varies
// (How many races there are, and in which process, depends on when it forks.)
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;
static long data;
static int parents, childrens;

static void *busy(void *argument) {
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        pthread_mutex_lock(&mutex);
        data++;
        free(malloc(64));
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void in_child(void) {
    childrens = 1; //~ RACE child
    next_turn();
}

static void in_parent(void) {
    parents = 1; //~ RACE parent
    next_turn();
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        MUST(pthread_create(&threads[i], NULL, busy, NULL) == 0);
    }
    for (int i = 0; i < 10; i++) {
        pid_t process = fork();
        MUST(process >= 0);
        if (process == 0) {
            if (i == 9) {
                pthread_t thread = start(in_child);
                turn(2);
                childrens = 2; //~ RACE child
                join(thread);
            }
            _exit(0);
        }
        MUST(waitpid(process, NULL, 0) == process);
    }
    pthread_t thread = start(in_parent);
    turn(2);
    parents = 2; //~ RACE parent
    join(thread);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    for (int i = 0; i < 2; i++) {
        join(threads[i]);
    }
    puts("done");
}
