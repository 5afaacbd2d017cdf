// _exit runs no handlers and leaves buffers as they are.
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
    printf("lost");
    _exit(5);
}
