// Threads start processes with vfork and exec, with and without success, and go on.
#include "../include/threads.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, failed;

static void *work(void *argument) {
    for (int i = 0; i < 4; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl(i % 2 ? "/bin/true" : "/there/is/no/such/program", "true", (char *)NULL);
            _exit(3);
        }
        int status;
        MUST(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        pthread_mutex_lock(&mutex);
        counter++;
        failed += WEXITSTATUS(status) == 3;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d %d\n", counter, failed);
}
