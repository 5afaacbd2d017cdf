// More threads than a barrier lets go at a time, and a barrier that is destroyed as soon as one thread has gone on.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

pthread_barrier_t two;
int slots[4];
atomic_int tickets;

void *crowd(void *n) {
    while (atomic_fetch_add_explicit(&tickets, 1, memory_order_relaxed) < 800) {
        slots[(long)n]++;
        pthread_barrier_wait(&two);
    }
    return NULL;
}

struct pair {
    pthread_barrier_t barrier;
    int left, right;
};

void *one(void *argument) {
    struct pair *pair = argument;
    pair->left = 1;
    int serial = pthread_barrier_wait(&pair->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    if (serial) {
        pthread_barrier_destroy(&pair->barrier);
    }
    return (void *)(long)(pair->right + serial * 10);
}

void *other(void *argument) {
    struct pair *pair = argument;
    pair->right = 2;
    int serial = pthread_barrier_wait(&pair->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    if (serial) {
        pthread_barrier_destroy(&pair->barrier);
    }
    return (void *)(long)(pair->left + serial * 10);
}

int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&two, NULL, 2);
    for (long n = 0; n < 4; n++) {
        pthread_create(&threads[n], NULL, crowd, (void *)n);
    }
    for (int n = 0; n < 4; n++) {
        pthread_join(threads[n], NULL);
    }
    long sum = 0;
    for (int i = 0; i < 200; i++) {
        struct pair *pair = calloc(1, sizeof *pair);
        void *a, *b;
        pthread_barrier_init(&pair->barrier, NULL, 2);
        pthread_create(&threads[0], NULL, one, pair);
        pthread_create(&threads[1], NULL, other, pair);
        pthread_join(threads[0], &a);
        pthread_join(threads[1], &b);
        sum += (long)a + (long)b;
        free(pair);
    }
    printf("%d %ld\n", slots[0] + slots[1] + slots[2] + slots[3], sum);
}
