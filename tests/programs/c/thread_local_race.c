// A thread-local variable is shared as soon as its address is.
#include "../include/threads.h"

_Thread_local int mine;
int *_Atomic shared;

static void owner(void) {
    shared = &mine;
    mine = 1; //~ RACE mine
    next_turn();
    turn(3);
}

static void other(void) {
    turn(2);
    printf("%d\n", *shared); //~ RACE mine
    next_turn();
}

int main(void) {
    together(owner, other);
}
