// Columns of a table, of which the optimiser makes several rounds one, and nobody knows how many rows there are.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { COLUMNS = 40 };

static long counts[9][COLUMNS];
static volatile long rows = 8, sink;

static __attribute__((noinline)) long total(long count) {
    long sum = 0;
    for (long column = 0; column < COLUMNS; column++) {
        for (long row = 0; row < count; row++) {
            sum = sum * 3 + counts[row][column]; //~ RACE count
        }
    }
    return sum;
}

static void writer(void) {
    turn(1);
    counts[5][11] = 1; //~ RACE count
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
