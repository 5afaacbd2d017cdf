// The program becomes another one after a race.
#include "../include/threads.h"

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
    execl("/bin/sh", "sh", "-c", "echo other; exit 7", (char *)NULL);
}
