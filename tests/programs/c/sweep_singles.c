// Threads take turns at an array, by a lock: each goes through it and then on with single elements of it, in no order.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 4096, COUNT = 2000, ROUNDS = 20 };

long numbers[SIZE];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long any(long i) {
    return (i * 7919 ^ i >> 3) & (SIZE - 1);
}

static void both(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        for (long i = 0; i < SIZE; i++) {
            numbers[i]++;
        }
        for (long i = 0; i < COUNT; i++) {
            numbers[any(i)]++;
        }
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    together(both, both);
    long sum = 0;
    for (long i = 0; i < SIZE; i++) {
        sum += numbers[i];
    }
    printf("%ld\n", sum);
}
