// Two threads fill, copy, read and give back the same arrays in large pieces and element by element, in turns that barriers make. The
// shadow of the arrays is compressed, expanded and compressed again.
// flags: -O2
#include "../include/threads.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 20000, ROUNDS = 12 };

static pthread_barrier_t barrier;
static long *one, *two;
static long sums[2];

static void work(int me) {
    size_t half = SIZE / 2 * sizeof *one;
    for (int round = 0; round < ROUNDS; round++) {
        size_t mine = (size_t)((me + round) % 2) * (SIZE / 2);
        memset(one + mine, round, half);
        pthread_barrier_wait(&barrier);
        memcpy(two + mine, one + SIZE / 2 - mine, half);
        pthread_barrier_wait(&barrier);
        // Both read all of it.
        for (int i = 0; i < SIZE; i += round + 1) {
            sums[me] += two[i];
        }
        pthread_barrier_wait(&barrier);
        // Every other element each.
        for (int i = (me + round) % 2; i < SIZE; i += 2) {
            two[i] = one[i];
        }
        pthread_barrier_wait(&barrier);
        if (me == round % 2) {
            free(two);
            two = malloc(SIZE * sizeof *two);
        }
        pthread_barrier_wait(&barrier);
    }
}

static void first(void) {
    work(0);
}

static void second(void) {
    work(1);
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    one = malloc(SIZE * sizeof *one);
    two = malloc(SIZE * sizeof *two);
    together(first, second);
    printf("%d\n", sums[0] == sums[1]);
}
