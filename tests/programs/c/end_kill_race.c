// Not even SIGKILL loses the report of a race that was there before.
#include "../include/threads.h"

#include <signal.h>

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
    raise(SIGKILL);
}
