// Objects are handed from thread to thread by a queue whose lock nobody sees.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

enum { THREADS = 4, ITEMS = 200 };

struct item {
    int number, square;
    struct item *inner;
};

static struct opaque_queue *forth, *back;

static void *producer(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = calloc(1, sizeof *item);
        item->number = i;
        item->inner = calloc(1, sizeof *item);
        item->inner->number = i + 1;
        opaque_push(forth, item);
    }
    return argument;
}

static void *consumer(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = opaque_pop(forth);
        item->square = item->number * item->inner->number;
        opaque_push(back, item);
    }
    return argument;
}

static void *either(void *number) {
    return (long)number % 2 ? producer(number) : consumer(number);
}

int main(void) {
    forth = opaque_queue_new();
    back = opaque_queue_new();
    pthread_t collector_of[THREADS];
    for (long i = 0; i < THREADS; i++) {
        MUST(pthread_create(&collector_of[i], NULL, either, (void *)i) == 0);
    }
    long sum = 0;
    for (int i = 0; i < THREADS / 2 * ITEMS; i++) {
        struct item *item = opaque_pop(back);
        sum += item->square;
        free(item->inner);
        free(item);
    }
    for (int i = 0; i < THREADS; i++) {
        join(collector_of[i]);
    }
    opaque_queue_free(forth);
    opaque_queue_free(back);
    printf("%ld\n", sum);
}
