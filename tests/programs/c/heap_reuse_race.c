// A block where another was is new: the race in it is found, whatever was done to the one before.
// orders: both
#include "../include/threads.h"

static int *block;

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    block[2]++; //~ RACE block
    next_turn();
    return argument;
}

int main(void) {
    int *before = malloc(64);
    before[2] = 1;
    free(before);
    block = calloc(1, 64);
    crowd(2, work);
    printf("%d\n", block[2]);
    free(block);
}
