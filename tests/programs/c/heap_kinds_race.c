// The report says where a block was allocated, by whichever function.
// orders: both
#include "../include/threads.h"

char *allocated, *zeroed, *aligned, *resized, *copied;

static void one(void) {
    turn(1);
    allocated[1] = 1; //~ RACE malloc
    zeroed[2] = 1; //~ RACE calloc
    aligned[3] = 1; //~ RACE aligned_alloc
    resized[4] = 1; //~ RACE realloc
    copied[5] = 1; //~ RACE strdup
    next_turn();
}

static void two(void) {
    turn(2);
    allocated[1] = 2; //~ RACE malloc
    zeroed[2] = 2; //~ RACE calloc
    aligned[3] = 2; //~ RACE aligned_alloc
    resized[4] = 2; //~ RACE realloc
    copied[5] = 2; //~ RACE strdup
    next_turn();
}

int main(void) {
    allocated = malloc(10);
    zeroed = calloc(10, 1);
    aligned = aligned_alloc(64, 64);
    resized = realloc(malloc(10), 1000);
    copied = strdup("copied");
    together(one, two);
    printf("%d %d %d %d %d\n", allocated[1], zeroed[2], aligned[3], resized[4], copied[5]);
}
