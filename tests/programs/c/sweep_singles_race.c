// A thread that has gone through an array goes on with single elements of it, in no order. What it knows of them by the loop ends with
// its epoch: what it does behind the lock races.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 4096, COUNT = 2000 };

long numbers[SIZE];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long any(long i) {
    return (i * 7919 ^ i >> 3) & (SIZE - 1);
}

static void pass(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void owner(void) {
    for (long i = 0; i < SIZE; i++) {
        numbers[i] = i;
    }
    for (long i = 0; i < COUNT; i++) {
        numbers[any(i)]++;
    }
    pass();
    for (long i = 0; i < COUNT; i++) {
        numbers[any(i)]++; //~ RACE numbers
    }
    next_turn();
}

static void user(void) {
    turn(2);
    pass();
    long sum = 0;
    for (long i = 0; i < SIZE; i++) {
        sum += numbers[i]; //~ RACE numbers
    }
    printf("%ld\n", sum);
    next_turn();
}

int main(void) {
    together(owner, user);
}
