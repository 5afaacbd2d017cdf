// A variable is used by another thread when its function may be over: the next function writes to the same place.
#include "../include/threads.h"

enum { SIZE = 4096 };

char *_Atomic shared;
char *kept;
long sum, seen;

__attribute__((noinline)) static void lend(void) {
    char buffer[SIZE];
    memset(buffer, 1, SIZE);
    shared = buffer;
    next_turn();
    turn(3);
    sum += buffer[0];
}

__attribute__((noinline)) static void overwrite(void) {
    char buffer[SIZE];
    // A variable that no other thread could know of is not looked at.
    kept = buffer;
    memset(buffer, 2, SIZE); //~ RACE buffer
    sum += buffer[7];
}

static void owner(void) {
    lend();
    overwrite();
}

static void user(void) {
    turn(2);
    char *borrowed = shared;
    for (int i = 0; i < SIZE; i++) {
        seen += borrowed[i]; //~ RACE buffer
    }
    next_turn();
}

int main(void) {
    together(owner, user);
    printf("%ld\n", seen);
}
