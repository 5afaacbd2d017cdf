// The report names threads that have names, and shows where each was created.
// orders: both
#include "../include/threads.h"

int data;

static void *body(void *argument) {
    int n = (int)(long)argument;
    pthread_setname_np(pthread_self(), n ? "reader" : "writer");
    turn(n + 1);
    data += n; //~ RACE data
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", data);
}
