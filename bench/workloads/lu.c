// LU factorisation of a dense matrix in blocks, without pivoting, columns of blocks dealt round the threads: the theme of
// SPLASH's lu. The matrix is dominant on its diagonal, so that no pivots are needed. Checked by solving for a known vector.
// suite: splash
// size: 2176 quick: 160 sweep: 1008 1280 1664 2176
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { BLOCK = 16 };

static long n;
static double *matrix;

static double *at(long row, long column) {
    return matrix + row * n + column;
}

static long least(long a, long b) {
    return a < b ? a : b;
}

static void factor_diagonal(long start, long end) {
    for (long k = start; k < end; k++) {
        for (long i = k + 1; i < end; i++) {
            double factor = *at(i, k) /= *at(k, k); //~ RACE diagonal
            for (long j = k + 1; j < end; j++) {
                *at(i, j) -= factor * *at(k, j); //~ RACE diagonal
            }
        }
    }
}

static void solve_row(long start, long end, long left, long right) {
    for (long k = start; k < end; k++) {
        for (long i = k + 1; i < end; i++) {
            double factor = *at(i, k); //~ RACE diagonal
            for (long j = left; j < right; j++) {
                *at(i, j) -= factor * *at(k, j); //~ RACE diagonal
            }
        }
    }
}

static void solve_column(long start, long end, long top, long bottom) {
    for (long i = top; i < bottom; i++) {
        for (long k = start; k < end; k++) {
            double factor = *at(i, k) /= *at(k, k); //~ RACE diagonal
            for (long j = k + 1; j < end; j++) {
                *at(i, j) -= factor * *at(k, j); //~ RACE diagonal
            }
        }
    }
}

static void update(long top, long bottom, long left, long right, long start, long end) {
    for (long i = top; i < bottom; i++) {
        for (long k = start; k < end; k++) {
            double factor = *at(i, k);
            const double *from = at(k, left);
            double *to = at(i, left);
            for (long j = 0; j < right - left; j++) {
                to[j] -= factor * from[j];
            }
        }
    }
}

static void body(long me) {
    for (long start = 0; start < n; start += BLOCK) {
        long end = least(start + BLOCK, n);
        if (start / BLOCK % threads == me) {
            factor_diagonal(start, end);
        }
        guard_meet();
        for (long block = end; block < n; block += BLOCK) {
            if (block / BLOCK % threads == me) {
                solve_row(start, end, block, least(block + BLOCK, n));
                solve_column(start, end, block, least(block + BLOCK, n));
            }
        }
        meet();
        for (long block = end; block < n; block += BLOCK) {
            if (block / BLOCK % threads == me) {
                update(end, n, block, least(block + BLOCK, n), start, end);
            }
        }
        meet();
    }
}

int main(int count, char **words) {
    n = arguments(count, words, 2176, 2 * BLOCK, 1L << 15);
    matrix = room(n * n, sizeof *matrix);
    double *right = room(n, sizeof *right);
    uint64_t state = 1;
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < n; j++) {
            *at(i, j) = next_number(&state) + (i == j ? (double)n : 0);
            right[i] += *at(i, j) * (double)(j % 7 + 1);
        }
    }
    run_team(body);
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < i; j++) {
            right[i] -= *at(i, j) * right[j];
        }
    }
    double error = 0, sum = 0;
    for (long i = n; i-- > 0;) {
        for (long j = i + 1; j < n; j++) {
            right[i] -= *at(i, j) * right[j];
        }
        right[i] /= *at(i, i);
        error = fmax(error, fabs(right[i] - (double)(i % 7 + 1)));
        sum += right[i];
    }
    return verdict_number(error < 1e-6, sum);
}
