// The parent writes after it created the child and reads before it joined it.
#include "../include/threads.h"

int given, made;

static void child(void) {
    turn(2);
    made = given; //~ RACE given made
    next_turn();
}

int main(void) {
    pthread_t thread = start(child);
    given = 1; //~ RACE given
    next_turn();
    turn(3);
    int seen = made; //~ RACE made
    join(thread);
    printf("%d\n", seen);
}
