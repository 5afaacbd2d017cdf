// A program with threads forks: the child is a program of its own, with threads of its own. And it starts others.
#include "../include/threads.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *count(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void forks(void) {
    pthread_mutex_lock(&mutex);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_unlock(&mutex);
        counter = 0;
        crowd(2, count);
        _exit(counter == 200 ? 11 : 12);
    }
    pthread_mutex_unlock(&mutex);
    int status;
    MUST(waitpid(child, &status, 0) == child);
    printf("%d\n", WEXITSTATUS(status));
}

int main(void) {
    pthread_t thread = start(forks);
    crowd(2, count);
    join(thread);
    pid_t child;
    char *arguments[] = {"sh", "-c", "exit 13", NULL};
    MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, NULL) == 0);
    int status;
    MUST(waitpid(child, &status, 0) == child);
    printf("%d %d %d\n", WEXITSTATUS(status), system("exit 14") >> 8, counter);
}
