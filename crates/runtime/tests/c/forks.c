// Children of a process with threads that are busy in the allocator and with locks.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static void *busy(void *unused) {
    while (!stop) {
        free(malloc(100));
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *add(void *sum) {
    ++*(int *)sum;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, busy, NULL);
    }
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        pid_t child = i % 4 == 3 ? vfork() : fork();
        if (child == 0) {
            if (i % 4 != 3) {
                pthread_t mine;
                int status = 0;
                pthread_create(&mine, NULL, add, &status);
                pthread_join(mine, NULL);
                free(realloc(malloc(10), 1000));
                _exit(status);
            }
            _exit(1);
        }
        int status;
        waitpid(child, &status, 0);
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    stop = 1;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d\n", sum);
    return system("exit 3") >> 8;
}
