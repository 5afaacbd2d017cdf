// A thread of the child races with the child's only one that was there before.
#include "../include/threads.h"

#include <sys/wait.h>
#include <unistd.h>

static int data, seen;

static void child(void) {
    seen = 1;
}

static void late(void) {
    turn(1);
    data = 1; //~ RACE data
    next_turn();
}

static void forks(void) {
    pid_t process = fork();
    if (process == 0) {
        start(late);
        turn(2);
        data++; //~ RACE data
        _exit(seen);
    }
    int status;
    MUST(waitpid(process, &status, 0) == process);
    printf("%d\n", WIFEXITED(status));
}

int main(void) {
    MUST(pthread_atfork(NULL, NULL, child) == 0);
    join(start(forks));
}
