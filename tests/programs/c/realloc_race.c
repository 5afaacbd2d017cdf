// realloc reads the old block and frees it.
#include "../include/threads.h"

char *block, *larger;

static void user(void) {
    block[1] = 1; //~ RACE block
    next_turn();
}

static void grower(void) {
    turn(2);
    larger = realloc(block, 100000); //~ RACE block
    larger[99999] = 2;
}

int main(void) {
    block = calloc(100, 1);
    together(user, grower);
    printf("%d %d\n", larger[1], larger[99999]);
    free(larger);
}
