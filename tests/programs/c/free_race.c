// Freeing memory is a write to all of it: it races with a use that nothing orders, in the block's middle too.
#include "../include/threads.h"

char *block;
int seen;

static void user(void) {
    seen = block[50]; //~ RACE block
    next_turn();
}

static void owner(void) {
    turn(2);
    free(block); //~ RACE block
}

int main(void) {
    block = calloc(100, 1);
    together(user, owner);
    printf("%d\n", seen);
}
