// Blocks grow and move while they go from hand to hand: what realloc frees and what it makes is in order.
#include "../include/threads.h"

enum { ROUNDS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long *block, size;

static void *grow(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        block = realloc(block, (size + 1) * sizeof *block);
        block[size] = size ? block[size - 1] + 1 : 0;
        size++;
        pthread_mutex_unlock(&mutex);
        // Memory that others get in between.
        long *own = malloc((i + 1) * sizeof *own);
        own[i] = i;
        own = realloc(own, 8 * (i + 1) * sizeof *own);
        own[8 * i] = i;
        free(own);
    }
    return argument;
}

int main(void) {
    crowd(3, grow);
    printf("%ld %ld\n", size, block[size - 1]);
    free(block);
}
