// The library calls back under its own lock, so the callbacks come one after the other.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

static long total;

static void add(int element, void *argument) {
    total += element;
    ++*(int *)argument;
}

static void *work(void *argument) {
    int array[10], calls = 0;
    for (int i = 0; i < 10; i++) {
        array[i] = i;
    }
    for (int i = 0; i < 50; i++) {
        opaque_each(array, 10, add, &calls);
    }
    MUST(calls == 500);
    return argument;
}

int main(void) {
    crowd(4, work);
    printf("%ld\n", total);
}
