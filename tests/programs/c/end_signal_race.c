// A signal ends the program after a race.
#include "../include/threads.h"

#include <signal.h>
#include <unistd.h>

int data;

static void writer(void) {
    data = 1; //~ RACE data
    next_turn();
}

int main(void) {
    start(writer);
    turn(2);
    data = 2; //~ RACE data
    puts("main");
    fflush(stdout);
    kill(getpid(), SIGTERM);
    pause();
}
