// Successive over-relaxation on a square grid, red and black points in turn, rows in bands of one thread each.
//
// Checked by how little the last sweeps still change: with the right factor the method converges in about as many sweeps
// as the side has points.
#include <math.h>

#include "team.h"

static long side;
static double *grid;
static double *changes;

static double sweep(long first, long last, long colour, double factor) {
    double change = 0;
    for (long i = first; i < last; i++) {
        double *row = grid + i * side;
        for (long j = 1 + (i + colour) % 2; j < side - 1; j += 2) {
            double mean = (row[j - side] + row[j + side] + row[j - 1] + row[j + 1]) / 4;
            double step = factor * (mean - row[j]);
            row[j] += step;
            change = fmax(change, fabs(step));
        }
    }
    return change;
}

static void *body(void *argument) {
    long me = (long)argument, rows = side - 2;
    long first = 1 + rows * me / threads, last = 1 + rows * (me + 1) / threads;
    double factor = 2 / (1 + sin(M_PI / (double)side));
    double change = 0;
    for (long round = 0; round < 2 * side; round++) {
        change = sweep(first, last, 0, factor);
        meet();
        change = fmax(change, sweep(first, last, 1, factor));
        meet();
    }
    changes[me] = change;
    return NULL;
}

int main(int count, char **words) {
    side = arguments(count, words, 400);
    grid = calloc((size_t)(side * side), sizeof *grid);
    changes = calloc((size_t)threads, sizeof *changes);
    for (long i = 0; i < side; i++) {
        // Warm at the top, a slope on the sides.
        grid[i] = 1;
        grid[i * side] = grid[i * side + side - 1] = 1 - (double)i / (double)(side - 1);
    }
    run_team(body);
    double change = 0, sum = 0;
    for (int i = 0; i < threads; i++) {
        change = fmax(change, changes[i]);
    }
    // The solution is the slope itself.
    for (long i = 0; i < side * side; i++) {
        sum += grid[i];
    }
    double expected = (double)(side * side) / 2;
    return verdict(change < 1e-3 && fabs(sum / expected - 1) < 1e-3, sum);
}
