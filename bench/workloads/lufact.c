// LU factorisation with partial pivoting, a column at a time, columns dealt round the threads: the theme of Java Grande's
// lufact (Linpack). Checked by solving for a known vector.
// suite: java-grande
// size: 2400 quick: 150 sweep: 1100 1400 1900 2400
// flags: -lm
#include <math.h>

#include "include/team.h"

static long n;
static double *columns;
static long *pivots;
// The pivot's row in the present step.
static long pivot;

static double *column(long j) {
    return columns + j * n;
}

// Brings the greatest element of the column onto the diagonal and makes what is below it the multipliers.
static long eliminate(double *own, long k) {
    long best = k;
    for (long i = k + 1; i < n; i++) {
        if (fabs(own[i]) > fabs(own[best])) {
            best = i;
        }
    }
    double value = own[best];
    own[best] = own[k];
    own[k] = value;
    for (long i = k + 1; i < n; i++) {
        own[i] /= value;
    }
    return best;
}

static void update(double *own, const double *factors, long k, long row) {
    double value = own[row];
    own[row] = own[k];
    own[k] = value;
    for (long i = k + 1; i < n; i++) {
        own[i] -= value * factors[i];
    }
}

static void body(long me) {
    for (long k = 0; k < n; k++) {
        if (k % threads == me) {
            pivots[k] = eliminate(column(k), k);
            pivot = pivots[k]; //~ RACE pivot
        }
        meet();
        long row = pivot; //~ RACE pivot
        for (long j = k + 1; j < n; j++) {
            if (j % threads == me) {
                update(column(j), column(k), k, row);
            }
        }
        // No thread needs another's columns before the next barrier, but they may not all have read the pivot.
        guard_meet();
    }
}

int main(int count, char **words) {
    n = arguments(count, words, 2400, 2, 1L << 15);
    columns = room(n * n, sizeof *columns);
    pivots = room(n, sizeof *pivots);
    double *right = room(n, sizeof *right);
    uint64_t state = 1;
    for (long j = 0; j < n; j++) {
        for (long i = 0; i < n; i++) {
            column(j)[i] = next_number(&state) - 0.5;
            right[i] += column(j)[i] * (double)(j % 7 + 1);
        }
    }
    run_team(body);
    for (long k = 0; k < n; k++) {
        double value = right[pivots[k]];
        right[pivots[k]] = right[k];
        right[k] = value;
        for (long i = k + 1; i < n; i++) {
            right[i] -= value * column(k)[i];
        }
    }
    double error = 0, sum = 0;
    for (long k = n; k-- > 0;) {
        right[k] /= column(k)[k];
        for (long i = 0; i < k; i++) {
            right[i] -= right[k] * column(k)[i];
        }
        error = fmax(error, fabs(right[k] - (double)(k % 7 + 1)));
        sum += right[k];
    }
    return verdict_number(error < 1e-6, sum);
}
