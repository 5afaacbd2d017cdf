// Recursion to a depth of 20,000 frames in four threads, each with a variable that escapes.
#include "../include/threads.h"

long sums[4];

__attribute__((noinline)) static void touch(int *variable) {
    ++*variable;
}

__attribute__((noinline)) static int descend(int depth) {
    int local = depth;
    touch(&local);
    return depth == 0 ? local : descend(depth - 1) + local % 2;
}

static void *body(void *n) {
    sums[(long)n] = descend(20000);
    return NULL;
}

int main(void) {
    crowd(4, body);
    printf("%ld %ld\n", sums[0], sums[3]);
}
