// memcpy, memmove, memset, mempcpy, memcmp and memchr race with one byte each.
// orders: both
#include "../include/threads.h"

char copied[64], moved[64], set[64], chained[64], compared[64], searched[64], from[64];
volatile size_t length = 33;
int seen;

static void functions(void) {
    turn(1);
    memcpy(copied, from, length); //~ RACE memcpy
    memmove(moved, from, length); //~ RACE memmove
    memset(set, 1, length); //~ RACE memset
    mempcpy(chained, from, length); //~ RACE mempcpy
    seen += memcmp(compared, from, length) != 0; //~ RACE memcmp
    seen += memchr(searched, 'x', length) != NULL; //~ RACE memchr
    next_turn();
}

static void bytes(void) {
    turn(2);
    copied[32] = 2; //~ RACE memcpy
    moved[32] = 2; //~ RACE memmove
    set[32] = 2; //~ RACE memset
    chained[32] = 2; //~ RACE mempcpy
    compared[32] = 2; //~ RACE memcmp
    searched[32] = 2; //~ RACE memchr
    next_turn();
}

int main(void) {
    together(functions, bytes);
    printf("%d %d %d %d %d\n", copied[32], moved[32], set[32], chained[32], seen);
}
