// Fourier coefficients of (x + 1)^x on [0, 2] by the trapezium rule, a slice of them for each thread: the theme of Java
// Grande's series. Checked by the first four, computed by Simpson's rule instead, and by adding up the squares again.
// suite: java-grande
// size: 800000 quick: 1000 sweep: 100000 200000 400000 800000
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { STEPS = 1000 };

static long pairs;
static double *cosines, *sines;
static double values[STEPS + 1];
static double energy;
static pthread_mutex_t energy_lock = PTHREAD_MUTEX_INITIALIZER;

// The integrals of the function times the cosine and the sine of n pi x.
static void coefficients(long n) {
    const double width = 2.0 / STEPS;
    // cos and sin of multiples of an angle, by turning.
    double turn_cos = cos(M_PI * (double)n * width), turn_sin = sin(M_PI * (double)n * width);
    double c = 1, s = 0, even = values[0] / 2, odd = 0;
    for (int i = 1; i <= STEPS; i++) {
        double turned = c * turn_cos - s * turn_sin;
        s = s * turn_cos + c * turn_sin;
        c = turned;
        double weight = i == STEPS ? 0.5 : 1;
        even += weight * values[i] * c;
        odd += weight * values[i] * s;
    }
    cosines[n] = even * width / (n == 0 ? 2 : 1);
    sines[n] = odd * width;
}

static void body(long me) {
    double mine = 0;
    for (long n = first_of(pairs, me); n < first_of(pairs, me + 1); n++) {
        coefficients(n);
        mine += (n == 0 ? 2 : 1) * cosines[n] * cosines[n] + sines[n] * sines[n];
    }
    guard(&energy_lock);
    energy += mine; //~ RACE energy
    unguard(&energy_lock);
}

static double simpson(long n, double (*wave)(double)) {
    double sum = 0;
    for (int i = 0; i <= 2 * STEPS; i++) {
        double x = 1.0 * i / STEPS;
        sum += (i == 0 || i == 2 * STEPS ? 1 : i % 2 ? 4 : 2) * pow(x + 1, x) * wave(M_PI * (double)n * x);
    }
    return sum / 3 / STEPS;
}

int main(int count, char **words) {
    pairs = arguments(count, words, 800000, 4, 1L << 30);
    cosines = room(pairs, sizeof *cosines);
    sines = room(pairs, sizeof *sines);
    for (int i = 0; i <= STEPS; i++) {
        double x = 2.0 * i / STEPS;
        values[i] = pow(x + 1, x);
    }
    run_team(body);

    int right = 1;
    for (long n = 0; n < 4; n++) {
        right &= fabs(cosines[n] - simpson(n, cos) / (n == 0 ? 2 : 1)) < 1e-4 && fabs(sines[n] - simpson(n, sin)) < 1e-4;
    }
    double sum = 0;
    for (long n = pairs; n-- > 0;) {
        sum += (n == 0 ? 2 : 1) * cosines[n] * cosines[n] + sines[n] * sines[n];
    }
    right &= fabs(energy / sum - 1) < 1e-9;
    return verdict_number(right, energy);
}
