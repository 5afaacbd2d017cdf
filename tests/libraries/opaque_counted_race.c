// Two objects with counts of their own, and what both destroy functions do is not ordered.
// library: opaque.c
// rules: opaque.rules
// orders: both
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static int destroyed;

static void destroy(void *object) {
    destroyed += *(int *)object; //~ RACE destroyed
    free(object);
}

static struct opaque_counted *made(int number) {
    int *object = malloc(sizeof *object);
    *object = number;
    return opaque_counted_new(object, destroy);
}

static void one(void) {
    struct opaque_counted *mine = made(1);
    turn(1);
    opaque_drop(mine);
    next_turn();
}

static void two(void) {
    struct opaque_counted *mine = made(2);
    turn(2);
    opaque_drop(mine);
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", destroyed);
}
