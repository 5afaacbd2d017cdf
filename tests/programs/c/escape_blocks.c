// Blocks of the heap that are filled before there is a second thread, and only read from then on.
// flags: -O2
#include "../include/threads.h"

enum { ROWS = 100, COLUMNS = 50 };

static long *weights;
static double *rows[ROWS];

static void *other(void *unused) {
    double sum = 0;
    for (long i = 0; i < ROWS * COLUMNS; i++) {
        long at = (i * 7919) % (ROWS * COLUMNS);
        sum += rows[at / COLUMNS][at % COLUMNS] * (double)weights[at % ROWS];
    }
    printf("%g\n", sum);
    return unused;
}

int main(int count, char **words) {
    (void)words;
    weights = malloc(ROWS * sizeof *weights);
    for (long i = 0; i < ROWS; i++) {
        weights[i] = count + i;
        rows[i] = calloc(COLUMNS, sizeof *rows[i]);
        for (long j = 0; j < COLUMNS; j++)
            rows[i][j] = (double)(i ^ j);
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        MUST(pthread_create(&threads[i], NULL, other, NULL) == 0);
    other(NULL);
    for (int i = 0; i < 2; i++)
        join(threads[i]);
}
