// Columns of a table, of which the optimiser makes several rounds one: what is behind their end is not read.
// flags: -O2
#include "../include/threads.h"

enum { COLUMNS = 40 };

static long counts[9][COLUMNS];
static volatile long rows = 8, sink;

static __attribute__((noinline)) long total(long count) {
    long sum = 0;
    for (long column = 0; column < COLUMNS; column++) {
        for (long row = 0; row < count; row++) {
            sum = sum * 3 + counts[row][column];
        }
    }
    return sum;
}

static void writer(void) {
    turn(1);
    counts[8][11] = 1;
    next_turn();
}

static void reader(void) {
    turn(2);
    sink = total(rows);
    next_turn();
}

int main(void) {
    together(writer, reader);
}
