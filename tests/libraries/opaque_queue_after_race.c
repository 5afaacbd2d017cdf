// What is done to an object after it was handed over is not ordered before its use by the other thread.
// library: opaque.c
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static struct opaque_queue *queue;
static int item;

static void one(void) {
    turn(1);
    opaque_push(queue, &item);
    next_turn();
    turn(3);
    item = 1; //~ RACE item
    next_turn();
}

static void two(void) {
    turn(2);
    int *got = opaque_pop(queue);
    next_turn();
    turn(4);
    *got = 2; //~ RACE item
    next_turn();
}

int main(void) {
    queue = opaque_queue_new();
    together(one, two);
    opaque_queue_free(queue);
}
