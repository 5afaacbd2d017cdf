// Any number of threads may read what was written before they started.
#include "../include/threads.h"

int table[1000];
long sums[16];

static void *sum(void *n) {
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++) {
            sums[(long)n] += table[i];
        }
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < 1000; i++) {
        table[i] = i;
    }
    crowd(16, sum);
    printf("%ld %ld\n", sums[0], sums[15]);
}
