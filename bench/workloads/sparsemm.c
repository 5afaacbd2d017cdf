// A sparse matrix times a vector, again and again, the nonzeros dealt to the threads so that a row belongs to one only: the
// theme of Java Grande's sparsemm. Checked by a serial multiplication that goes over the nonzeros backwards.
// suite: java-grande
// size: 460000 quick: 4000 sweep: 60000 115000 230000 460000
#include "include/team.h"

enum { IN_ROW = 5, ROUNDS = 400 };

static long rows, nonzeros;
static int32_t *row_of, *column_of;
static double *values, *x, *y;

// Where the work of a thread begins: at its share of the nonzeros, moved to the start of a row.
static long start_of(long me) {
    long start = first_of(nonzeros, me);
#ifndef RACE
    while (start > 0 && start < nonzeros && row_of[start] == row_of[start - 1]) {
        start++;
    }
#endif
    return start;
}

static void body(long me) {
    long start = start_of(me), end = start_of(me + 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (long i = start; i < end; i++) {
            y[row_of[i]] += x[column_of[i]] * values[i]; //~ RACE y
        }
    }
}

int main(int count, char **words) {
    rows = arguments(count, words, 460000, 4, 1L << 28);
    // The first row has fewer, so that half of the nonzeros never ends with a row.
    nonzeros = rows * IN_ROW - 2;
    row_of = room(nonzeros, sizeof *row_of);
    column_of = room(nonzeros, sizeof *column_of);
    values = room(nonzeros, sizeof *values);
    x = room(rows, sizeof *x);
    y = room(rows, sizeof *y);
    uint64_t state = 1;
    for (long i = 0; i < nonzeros; i++) {
        row_of[i] = (int32_t)((i + 2) / IN_ROW);
        column_of[i] = (int32_t)next_below(&state, rows);
        // Small whole numbers: sums are exact in any order.
        values[i] = (double)next_below(&state, 100);
    }
    for (long i = 0; i < rows; i++) {
        x[i] = (double)next_below(&state, 100);
    }
    run_team(body);
    double *expected = room(rows, sizeof *expected);
    for (long i = nonzeros; i-- > 0;) {
        expected[row_of[i]] += values[i] * x[column_of[i]];
    }
    int right = 1;
    uint64_t checksum = 0;
    for (long i = 0; i < rows; i++) {
        right &= y[i] == ROUNDS * expected[i];
        checksum = scramble(checksum ^ (uint64_t)y[i]);
    }
    return verdict(right, checksum);
}
