// Two threads use queues of their own: that orders nothing between them.
// library: opaque.c
// rules: opaque.rules
// orders: both
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static int data;

static void use(struct opaque_queue *queue) {
    int item = 1;
    opaque_push(queue, &item);
    MUST(opaque_pop(queue) == &item);
    opaque_queue_free(queue);
}

static void one(void) {
    struct opaque_queue *queue = opaque_queue_new();
    turn(1);
    data = 1; //~ RACE data
    use(queue);
    next_turn();
}

static void two(void) {
    struct opaque_queue *queue = opaque_queue_new();
    turn(2);
    use(queue);
    data = 2; //~ RACE data
    next_turn();
}

int main(void) {
    together(one, two);
}
