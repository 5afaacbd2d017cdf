// A process that one thread waits for orders nothing between threads.
#include <spawn.h>
#include <sys/wait.h>

#include "../include/threads.h"

extern char **environ;
static int data;

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    pid_t child;
    char *words[] = {"true", NULL};
    MUST(posix_spawnp(&child, "true", NULL, NULL, words, environ) == 0);
    MUST(waitpid(child, NULL, 0) == child);
    data++; //~ RACE data
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", data);
}
