// The paths of checks that stand for many accesses: built as `deadheat check` builds, with checks where placement puts them.
#include "paths.h"

enum { ROW = 64, ROWS = 64, HEADS = 4 };

// Not static, as in paths.c. As large as several regions of the shadow.
long row[ROW], matrix[ROWS * ROW];
long keys[ROW], heads[HEADS], filled[HEADS * 4096];
struct { long x, y, z; } point;

// The same row again in the same epoch.
static void sweep(long n) {
    EACH(n) {
        for (long j = 0; j < ROW; j++) {
            row[j] = i;
        }
    }
}

// Each row is the first access to it in its epoch.
static void first_sweep(long n) {
    EACH(n) {
        long *to = matrix + i % ROWS * ROW;
        for (long j = 0; j < ROW; j++) {
            to[j] = i;
        }
    }
}

static void every_other(long n) {
    EACH(n) {
        long *to = matrix + i % ROWS * ROW;
        for (long j = 0; j < ROW; j += 2) {
            to[j] = i;
        }
    }
}

// A tile of eight by eight: gathered row by row, checked behind the nest.
static void tile(long n) {
    EACH(n) {
        long *to = matrix + i % (ROWS / 8) * 8 * ROW;
        for (long k = 0; k < 8; k++) {
            for (long j = 0; j < 8; j++) {
                to[k * ROW + j] = i;
            }
        }
    }
}

// Several places are filled at once, as by a radix sort.
static void fill(long n) {
    EACH(n) {
        for (long j = 0; j < HEADS; j++) {
            heads[j] = j * 4096;
        }
        for (long j = 0; j < ROW; j++) {
            filled[heads[keys[j]]++] = j;
        }
    }
}

// Three members in one line.
static void members(long n) {
    EACH(n) point.x = point.y = point.z = i;
}

static const struct path cases[] = {
    {"sweep64", sweep}, {"first-sweep64", first_sweep}, {"every-other32", every_other}, {"tile8x8", tile}, {"fill64", fill}, {"members3", members},
};

MAIN(cases)
