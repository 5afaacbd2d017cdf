// The lock of a stream is not for the program's own variables.
#include "../include/threads.h"

static int written;

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    fputs("", stderr);
    written++; //~ RACE written
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", written);
}
