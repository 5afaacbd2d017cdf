// The library raises a flag, and a relaxed load sees it: that orders nothing.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/threads.h"
#include "opaque.h"

#include <sched.h>
#include <stdatomic.h>

static _Atomic int flag;
static int data;

static void giver(void) {
    data = 1; //~ RACE data
    opaque_raise(&flag);
}

static void taker(void) {
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) {
        sched_yield();
    }
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    together(giver, taker);
}
