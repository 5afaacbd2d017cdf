// The parent reads its own variable before it has joined the child that writes it.
#include "../include/threads.h"

static void *child(void *sum) {
    *(int *)sum = 42; //~ RACE sum
    next_turn();
    return NULL;
}

int main(void) {
    int sum = 0;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, child, &sum) == 0);
    turn(2);
    int early = sum; //~ RACE sum
    join(thread);
    printf("%d\n", early);
}
