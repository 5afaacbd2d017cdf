// The report shows a function that calls itself once.
// orders: both
#include "../include/threads.h"

int data;

__attribute__((noinline)) static void descend(int depth) {
    if (depth == 0) {
        data++; //~ RACE data
        return;
    }
    descend(depth - 1);
    __asm__ volatile(""); // no tail call
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    descend(3 + 2 * n);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", data);
}
