// Joining the child does not order what its own child does.
#include "../include/threads.h"

int data;
pthread_t running;

static void grandchild(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void child(void) {
    running = start(grandchild);
}

int main(void) {
    join(start(child));
    turn(2);
    printf("%d\n", data); //~ RACE data
    join(running);
}
