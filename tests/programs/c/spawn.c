// Processes made by posix_spawn, vfork and system from several threads.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../include/threads.h"

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *argument) {
    int status = 0, mine = 0;
    pid_t child;
    char *words[] = {"sh", "-c", "exit 3", NULL};
    MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0);
    MUST(waitpid(child, &status, 0) == child);
    mine += WEXITSTATUS(status);
    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
        _exit(9);
    }
    MUST(waitpid(child, &status, 0) == child);
    mine += WEXITSTATUS(status);
    mine += WEXITSTATUS(system("exit 5"));
    pthread_mutex_lock(&mutex);
    sum += mine;
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", sum);
}
