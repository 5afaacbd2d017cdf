// Two threads fill the buckets of a sort, each its own part of every bucket, again and again, with a barrier in between after which
// either has the other's part. What they write lies side by side, and what they read is not written meanwhile.
// flags: -O2
#include "../include/threads.h"

enum { KEYS = 40000, DIGITS = 64, ROUNDS = 8 };

unsigned keys[KEYS], sorted[KEYS];
// Where the part of each half of the keys ends, in each bucket.
int ends[DIGITS][2];
pthread_barrier_t barrier;

static void sort(int half) {
    for (int round = 0; round < ROUNDS; round++) {
        int next[DIGITS], part = (half + round) % 2;
        for (int i = 0; i < DIGITS; i++) next[i] = ends[i][part];
        for (int i = part * KEYS / 2; i < (part + 1) * KEYS / 2; i++) {
            sorted[--next[keys[i] % DIGITS]] = keys[i];
        }
        for (int i = part * KEYS / 2; i < (part + 1) * KEYS / 2; i++) {
            sorted[next[keys[i] % DIGITS]++] = keys[i];
        }
        pthread_barrier_wait(&barrier);
    }
}

static void first(void) {
    sort(0);
}

static void second(void) {
    sort(1);
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < KEYS; i++) {
        keys[i] = (unsigned)i * 2654435761u >> 7;
        ends[keys[i] % DIGITS][i >= KEYS / 2]++;
    }
    int *end = &ends[0][0];
    for (int i = 1; i < 2 * DIGITS; i++) end[i] += end[i - 1];
    together(first, second);
    unsigned sum = 0;
    for (int i = 0; i < KEYS; i++) sum = sum * 31 + sorted[i];
    printf("%u\n", sum);
    pthread_barrier_destroy(&barrier);
}
