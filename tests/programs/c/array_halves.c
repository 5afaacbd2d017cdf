// Two threads sweep halves of an array, four times with the halves changed at a barrier.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 1000 };

long numbers[SIZE];
pthread_barrier_t barrier;

static void *sweep(void *argument) {
    long n = (long)argument;
    for (int round = 0; round < 4; round++) {
        long start = (n + round) % 2 * (SIZE / 2);
        for (long i = start; i < start + SIZE / 2; i++) {
            numbers[i] += i;
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    crowd(2, sweep);
    printf("%ld %ld\n", numbers[SIZE / 2], numbers[SIZE - 1]);
}
