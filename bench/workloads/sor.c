// Successive over-relaxation on a square grid, red and black points in turn, a band of rows for each thread: the theme of
// Java Grande's sor. Checked by the solution, which is known, and by how little the last sweeps still change: with the
// right factor the method converges in about as many sweeps as the side has points.
// suite: java-grande
// size: 760 quick: 100 sweep: 350 460 600 760
// flags: -lm
#include <math.h>

#include "include/team.h"

static long side;
static double *grid;
static double *changes;

static double sweep(long first, long last, long colour, double factor) {
    double change = 0;
    for (long i = first; i < last; i++) {
        double *row = grid + i * side;
        for (long j = 1 + (i + colour) % 2; j < side - 1; j += 2) {
            double mean = (row[j - side] + row[j + side] + row[j - 1] + row[j + 1]) / 4; //~ RACE grid
            double step = factor * (mean - row[j]);
            row[j] += step; //~ RACE grid
            change = fmax(change, fabs(step));
        }
    }
    return change;
}

static void body(long me) {
    long first = 1 + first_of(side - 2, me), last = 1 + first_of(side - 2, me + 1);
    double factor = 2 / (1 + sin(M_PI / (double)side));
    double change = 0;
    for (long round = 0; round < 2 * side; round++) {
        change = sweep(first, last, 0, factor);
        guard_meet();
        change = fmax(change, sweep(first, last, 1, factor));
        meet();
    }
    changes[me] = change;
}

int main(int count, char **words) {
    side = arguments(count, words, 760, 3, 1L << 15);
    grid = room(side * side, sizeof *grid);
    changes = room(threads, sizeof *changes);
    for (long i = 0; i < side; i++) {
        // Warm at the top, a slope on the sides.
        grid[i] = 1;
        grid[i * side] = grid[i * side + side - 1] = 1 - (double)i / (double)(side - 1);
    }
    run_team(body);
    double change = 0, error = 0, sum = 0;
    for (int i = 0; i < threads; i++) {
        change = fmax(change, changes[i]);
    }
    // The solution is the slope itself.
    for (long i = 0; i < side; i++) {
        for (long j = 0; j < side; j++) {
            error = fmax(error, fabs(grid[i * side + j] - (1 - (double)i / (double)(side - 1))));
            sum += grid[i * side + j];
        }
    }
    return verdict_number(change < 1e-3 && error < 1e-3, sum);
}
