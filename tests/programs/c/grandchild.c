// Joining a thread that has joined its own child orders what that one did, through any number of generations.
#include "../include/threads.h"

static int data[4];

static void great_grandchild(void) {
    data[0] = 1;
}

static void grandchild(void) {
    data[1] = 2;
    join(start(great_grandchild));
    data[0]++;
}

static void child(void) {
    data[2] = 3;
    join(start(grandchild));
    data[1]++;
}

int main(void) {
    for (int i = 0; i < 50; i++) {
        join(start(child));
        data[3] += data[0] + data[1] + data[2];
    }
    printf("%d\n", data[3]);
}
