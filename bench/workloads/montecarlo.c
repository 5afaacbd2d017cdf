// Prices of an option from random paths of its share, taken one by one from a common counter: the theme of Java Grande's
// montecarlo. Checked against the Black-Scholes formula, within four standard errors, and that no path is left out.
// suite: java-grande
// size: 480000 quick: 3000 sweep: 48000 96000 240000 480000
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { DAYS = 250 };

static const double START = 100, STRIKE = 105, INTEREST = 0.05, VOLATILITY = 0.2;

static long paths;
static double *payoffs;
// The next path that nobody has taken.
static long next_path;
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;

static long take_path(void) {
    guard(&next_lock);
    long path = next_path++; //~ RACE next_path
    unguard(&next_lock);
    return path;
}

// Normally distributed, by the polar method.
static double normal(uint64_t *state) {
    for (;;) {
        double x = 2 * next_number(state) - 1, y = 2 * next_number(state) - 1, square = x * x + y * y;
        if (square > 0 && square < 1) {
            return x * sqrt(-2 * log(square) / square);
        }
    }
}

static double payoff(long path) {
    uint64_t state = scramble((uint64_t)path + 1);
    const double time = 1.0 / DAYS;
    double price = log(START);
    for (int day = 0; day < DAYS; day++) {
        price += (INTEREST - VOLATILITY * VOLATILITY / 2) * time + VOLATILITY * sqrt(time) * normal(&state);
    }
    return fmax(exp(price) - STRIKE, 0) * exp(-INTEREST);
}

static void body(long me) {
    (void)me;
    for (long path; (path = take_path()) < paths;) {
        payoffs[path] = payoff(path); //~ RACE payoffs
    }
}

static double normal_below(double x) {
    return erfc(-x / sqrt(2)) / 2;
}

int main(int count, char **words) {
    paths = arguments(count, words, 480000, 100, 1L << 32);
    payoffs = room(paths, sizeof *payoffs);
    for (long path = 0; path < paths; path++) {
        payoffs[path] = -1;
    }
    run_team(body);
    double sum = 0, squares = 0;
    int is_whole = 1;
    for (long path = 0; path < paths; path++) {
        is_whole &= payoffs[path] >= 0;
        sum += payoffs[path];
        squares += payoffs[path] * payoffs[path];
    }
    double mean = sum / (double)paths;
    double error = sqrt((squares / (double)paths - mean * mean) / (double)paths);
    double up = (log(START / STRIKE) + INTEREST + VOLATILITY * VOLATILITY / 2) / VOLATILITY;
    double price = START * normal_below(up) - STRIKE * exp(-INTEREST) * normal_below(up - VOLATILITY);
    return verdict_number(is_whole && fabs(mean - price) < 4 * error, mean);
}
