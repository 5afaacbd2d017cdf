// A use after another thread freed the memory.
#include "../include/threads.h"

volatile char *block;
volatile char seen;

static void owner(void) {
    free((void *)block); //~ RACE block
    next_turn();
    turn(3); // The end of a thread hands its free blocks to others, and what was there would be forgotten.
}

static void user(void) {
    turn(2);
    seen = block[500]; //~ RACE block
    next_turn();
}

int main(void) {
    block = malloc(1000);
    together(owner, user);
    puts("done");
}
