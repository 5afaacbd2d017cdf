// A process forks while its threads pass memory from hand to hand: nobody waits for ever, and the children are checked.
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../include/threads.h"

enum { LENGTH = 1 << 15, THREADS = 3, FORKS = 60 };

static long data[LENGTH];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;

static void *work(void *argument) {
    while (!done) {
        // Fresh memory belongs to nobody yet; each thread takes it from the one before.
        for (int i = 0; i < LENGTH && !done; i += 4096 / sizeof *data) {
            pthread_mutex_lock(&mutex);
            data[i]++;
            free(malloc(64));
            pthread_mutex_unlock(&mutex);
        }
        free(malloc(1 << 16));
    }
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MUST(pthread_create(&threads[i], NULL, work, NULL) == 0);
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        MUST(child >= 0);
        if (child == 0) {
            data[i] = i;
            _exit(7);
        }
        int status;
        MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    done = 1;
    for (int i = 0; i < THREADS; i++) {
        MUST(pthread_join(threads[i], NULL) == 0);
    }
    puts("done");
    return 0;
}
