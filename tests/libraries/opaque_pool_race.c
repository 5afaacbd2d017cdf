// Two functions that a library's threads run side by side share a counter.
// library: opaque.c
// report: varies
#include "../programs/include/threads.h"
#include "opaque.h"

static int counter;

static void count(void *argument) {
    // Both are under way, in two threads.
    next_turn();
    turn(2 + *(int *)argument);
    counter++; //~ RACE counter
    next_turn();
}

int main(void) {
    int numbers[2] = {1, 2};
    struct opaque_pool *pool = opaque_pool_new(2);
    opaque_submit(pool, count, &numbers[0]);
    opaque_submit(pool, count, &numbers[1]);
    opaque_wait(pool);
    opaque_pool_free(pool);
    printf("%d\n", counter);
}
