// Nothing orders a detached thread's writes.
#include "../include/threads.h"

int data;

static void body(void) {
    data = 1; //~ RACE data
    next_turn();
}

int main(void) {
    pthread_detach(start(body));
    turn(2);
    printf("%d\n", data); //~ RACE data
}
