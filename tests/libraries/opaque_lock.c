// A lock that is given no pointer, only a number or nothing at all.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

static int counter, counters[4];

static void *count(void *argument) {
    for (int i = 0; i < 300; i++) {
        opaque_lock();
        counter++;
        opaque_unlock();
        opaque_lock_number(i % 4);
        counters[i % 4]++;
        opaque_unlock_number(i % 4);
    }
    return argument;
}

int main(void) {
    crowd(4, count);
    printf("%d %d\n", counter, counters[0]);
}
