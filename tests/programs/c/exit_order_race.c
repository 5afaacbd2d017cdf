// A function of atexit looks at what a thread did that nobody has joined.
#include "../include/threads.h"

static int done;

static void at_end(void) {
    turn(2);
    printf("%d\n", done); //~ RACE done
}

static void works(void) {
    turn(1);
    done = 1; //~ RACE done
    next_turn();
}

int main(void) {
    atexit(at_end);
    pthread_detach(start(works));
    return 0;
}
