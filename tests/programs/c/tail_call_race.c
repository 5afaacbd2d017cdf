// A tail call replaces its caller's frame: the report must not show a wrong one.
// flags: -O2
// orders: both
#include "../include/threads.h"

int data;

__attribute__((noinline)) static void last(int value) {
    data = value; //~ RACE data
}

__attribute__((noinline)) static void middle(int value) {
    __attribute__((musttail)) return last(value + 1);
}

__attribute__((noinline)) static void first(int value) {
    middle(value);
    __asm__ volatile("");
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    first(n);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", data);
}
