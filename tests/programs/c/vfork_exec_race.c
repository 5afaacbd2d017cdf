// A process in between orders nothing between threads.
#include "../include/threads.h"

#include <sys/wait.h>
#include <unistd.h>

static int data;

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(3);
    }
    MUST(child > 0 && waitpid(child, NULL, 0) == child);
    data++; //~ RACE data
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", data);
}
