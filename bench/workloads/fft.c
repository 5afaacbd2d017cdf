// Fast Fourier transform in six steps: the points as a square, rows transformed, turned by factors, transposed; the theme
// of SPLASH's fft. Checked by the inverse transform, which must give the points back, and by the first coefficient, which is
// their sum. The size is the logarithm of the side.
// suite: splash
// size: 11 quick: 6 sweep: 9 10 11
// flags: -lm
#include <math.h>
#include <string.h>

#include "include/team.h"

// There and back, three times.
enum { PASSES = 6 };

typedef struct { double re, im; } point;

static point times(point a, point b) {
    return (point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static long side;
static point *data, *other;
static double *original;
static double first_coefficient;
static int direction = 1;

// In place, of one row.
static void transform_row(point *row) {
    for (long i = 1, j = 0; i < side; i++) {
        long bit = side >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            point swapped = row[i];
            row[i] = row[j];
            row[j] = swapped;
        }
    }
    for (long length = 2; length <= side; length <<= 1) {
        double angle = direction * 2 * M_PI / (double)length; //~ RACE direction
        point step = {cos(angle), sin(angle)};
        for (long start = 0; start < side; start += length) {
            point factor = {1, 0};
            for (long k = 0; k < length / 2; k++) {
                point even = row[start + k];
                point odd = row[start + k + length / 2];
                point turned = times(odd, factor);
                row[start + k] = (point){even.re + turned.re, even.im + turned.im};
                row[start + k + length / 2] = (point){even.re - turned.re, even.im - turned.im};
                factor = times(factor, step);
            }
        }
    }
}

static void transpose(const point *from, point *to, long first, long last) {
    enum { BLOCK = 8 };
    for (long row = first; row < last; row += BLOCK) {
        for (long column = 0; column < side; column += BLOCK) {
            for (long i = row; i < row + BLOCK && i < last; i++) {
                for (long j = column; j < column + BLOCK && j < side; j++) {
                    to[i * side + j] = from[j * side + i];
                }
            }
        }
    }
}

static void turn_row(point *row, long number) {
    double angle = direction * 2 * M_PI * (double)number / ((double)side * (double)side); //~ RACE direction
    for (long j = 0; j < side; j++) {
        row[j] = times(row[j], (point){cos(angle * (double)j), sin(angle * (double)j)});
    }
}

static void body(long me) {
    long first = first_of(side, me), last = first_of(side, me + 1);
    for (int pass = 0; pass < PASSES; pass++) {
        transpose(data, other, first, last);
        for (long i = first; i < last; i++) {
            transform_row(other + i * side);
            turn_row(other + i * side, i);
        }
        meet();
        transpose(other, data, first, last);
        for (long i = first; i < last; i++) {
            transform_row(data + i * side);
        }
        meet();
        transpose(data, other, first, last);
        meet();
        memcpy(data + first * side, other + first * side, sizeof *data * (size_t)((last - first) * side));
        meet();
        if (me == 0) {
            if (pass == 0) {
                first_coefficient = data[0].re;
            }
            direction = -direction; //~ RACE direction
        }
        guard_meet();
    }
}

int main(int count, char **words) {
    side = 1L << arguments(count, words, 11, 3, 15);
    long points = side * side;
    data = room(points, sizeof *data);
    other = room(points, sizeof *other);
    original = room(points, sizeof *original);
    uint64_t state = 1;
    for (long i = 0; i < points; i++) {
        original[i] = next_number(&state);
        data[i] = (point){original[i], 0};
    }
    run_team(body);
    double scale = pow((double)points, PASSES / 2.0), error = 0, sum = 0, total = 0;
    for (long i = 0; i < points; i++) {
        error = fmax(error, fabs(data[i].re / scale - original[i]));
        sum += data[i].re / scale;
        total += original[i];
    }
    return verdict_number(error < 1e-9 && fabs(first_coefficient / total - 1) < 1e-9, sum);
}
