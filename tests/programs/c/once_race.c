// A flag of one's own is no once.
#include "../include/threads.h"

int initialised, value;
int seen[2];

static void *body(void *n) {
    turn((int)(long)n + 1);
    if (!initialised) { //~ RACE flag
        value = 42; //~ RACE value
        initialised = 1; //~ RACE flag
    }
    seen[(long)n] = value; //~ RACE value
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d %d\n", seen[0], seen[1]);
}
