// Three thousand threads have ended, all joined, and each with a place of its own; the first one before them was never
// joined. The last one races with it.
#include "../include/threads.h"

int data, counter;

static void first(void) {
    data = 1; //~ RACE data
    next_turn();
}

static void *body(void *n) {
    counter += 1;
    return NULL;
}

static void last(void) {
    data = 2; //~ RACE data
}

int main(void) {
    pthread_detach(start(first));
    turn(2);
    for (int i = 0; i < 3000; i++) {
        crowd(1, body);
    }
    join(start(last));
    printf("%d\n", counter);
}
