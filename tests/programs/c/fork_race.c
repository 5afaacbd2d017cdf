// The race is in the child process of a fork.
#include "../include/threads.h"

#include <sys/wait.h>
#include <unistd.h>

int data;

static void one(void) {
    turn(1);
    data = 1; //~ RACE data
    next_turn();
}

static void two(void) {
    turn(2);
    data = 2; //~ RACE data
    next_turn();
}

int main(void) {
    pid_t child = fork();
    if (child == 0) {
        together(one, two);
        exit(data);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child);
    printf("%d\n", WIFEXITED(status));
}
