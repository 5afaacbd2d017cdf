// Phases between barriers: each thread reads what its neighbour wrote in the phase before.
// The barrier is used again at once.
#include "../include/threads.h"

enum { THREADS = 4, PHASES = 50 };

pthread_barrier_t barrier;
int cells[2][THREADS];

static void *body(void *argument) {
    long n = (long)argument;
    for (int phase = 0; phase < PHASES; phase++) {
        cells[(phase + 1) % 2][n] = cells[phase % 2][(n + 1) % THREADS] + 1;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    crowd(THREADS, body);
    pthread_barrier_destroy(&barrier);
    printf("%d %d\n", cells[0][0], cells[1][3]);
}
