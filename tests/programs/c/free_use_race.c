// A use after another thread freed the memory.
#include "../include/threads.h"

volatile char *block;
volatile char seen;

static void owner(void) {
    free((void *)block); //~ RACE block
    next_turn();
}

static void user(void) {
    turn(2);
    seen = block[500]; //~ RACE block
}

int main(void) {
    block = malloc(1000);
    together(owner, user);
    puts("done");
}
