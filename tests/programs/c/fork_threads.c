// Children of a fork in a process with threads have threads and locks of their own; pthread_atfork keeps one consistent.
#include "../include/threads.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, prepared, in_parent, in_child;
static atomic_int stop;

static void prepare(void) {
    pthread_mutex_lock(&mutex);
    prepared++;
}

static void parent(void) {
    in_parent++;
    pthread_mutex_unlock(&mutex);
}

static void child(void) {
    in_child++;
    counter = 0;
    pthread_mutex_unlock(&mutex);
}

static void *count(void *argument) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void busy(void) {
    while (!atomic_load(&stop)) {
        count(NULL);
    }
}

int main(void) {
    MUST(pthread_atfork(prepare, parent, child) == 0);
    pthread_t thread = start(busy);
    for (int i = 0; i < 5; i++) {
        pid_t process = fork();
        if (process == 0) {
            crowd(3, count);
            exit(counter == 300 && in_child == 1 ? 42 : 1);
        }
        int status;
        MUST(waitpid(process, &status, 0) == process);
        MUST(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    }
    atomic_store(&stop, 1);
    join(thread);
    printf("%d %d %d\n", prepared, in_parent, in_child);
}
