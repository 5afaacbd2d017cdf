// Creating and joining orders: what the parent wrote before, what the child wrote, what its child wrote.
#include "../include/threads.h"

int given, made, deeper;

static void grandchild(void) {
    deeper = given + 2;
}

static void child(void) {
    made = given + 1;
    join(start(grandchild));
    deeper++;
}

int main(void) {
    given = 1;
    join(start(child));
    printf("%d %d %d\n", given, made, deeper);
}
