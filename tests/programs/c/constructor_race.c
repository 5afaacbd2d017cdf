// A constructor starts a thread that races with main.
#include "../include/threads.h"

static int data;
static pthread_t thread;

static void body(void) {
    data = 1; //~ RACE data
    next_turn();
}

__attribute__((constructor)) static void begin(void) {
    thread = start(body);
}

int main(void) {
    turn(2);
    printf("%d\n", data); //~ RACE data
    join(thread);
}
