// The shortest round trip by branch and bound, the best length so far shared under a lock: a program of many papers on
// races, whose authors often read the bound without the lock, as here with the race. Checked by dynamic programming.
// suite: tree-rdit
// size: 18 quick: 10 sweep: 15 16 17 18
#include <stdatomic.h>

#include "include/team.h"

enum { MOST = 20 };

static long cities;
static int distances[MOST][MOST];
static int best = INT32_MAX;
static pthread_mutex_t best_lock = PTHREAD_MUTEX_INITIALIZER;
// Trips begin with two cities after the first; each such beginning is taken once.
static atomic_long next_start;

static int bound(void) {
    guard(&best_lock);
    int value = best; //~ RACE best
    unguard(&best_lock);
    return value;
}

static void improve(int length) {
    pthread_mutex_lock(&best_lock);
    if (length < best) {
        best = length; //~ RACE best
    }
    pthread_mutex_unlock(&best_lock);
}

// What must still come at least: the cheapest way out of each city that is left.
static int least_rest(const int *cheapest, unsigned left) {
    int sum = 0;
    for (long i = 1; i < cities; i++) {
        sum += left >> i & 1 ? cheapest[i] : 0;
    }
    return sum;
}

static void extend(const int *cheapest, long last, unsigned left, int length) {
    if (left == 0) {
        improve(length + distances[last][0]);
        return;
    }
    if (length + cheapest[last] + least_rest(cheapest, left) >= bound()) {
        return;
    }
    for (long next = 1; next < cities; next++) {
        if (left >> next & 1) {
            extend(cheapest, next, left & ~(1u << next), length + distances[last][next]);
        }
    }
}

static void body(long me) {
    (void)me;
    int cheapest[MOST];
    for (long i = 0; i < cities; i++) {
        cheapest[i] = INT32_MAX;
        for (long j = 0; j < cities; j++) {
            cheapest[i] = i != j && distances[i][j] < cheapest[i] ? distances[i][j] : cheapest[i];
        }
    }
    unsigned all = (1u << cities) - 2;
    // Each looks at the bound before its first trip: none there yet, as a rule.
    int seen = bound();
    for (long start; seen > 0 && (start = atomic_fetch_add_explicit(&next_start, 1, memory_order_relaxed)) < cities * cities;) {
        long first = start / cities, second = start % cities;
        if (first > 0 && second > 0 && first != second) {
            extend(cheapest, second, all & ~(1u << first) & ~(1u << second), distances[0][first] + distances[first][second]);
        }
    }
}

// Held and Karp: the shortest way from 0 through a set of cities to its member `last`.
static int exact(void) {
    long sets = 1L << (cities - 1), inner = cities - 1;
    int *table = room(sets * inner, sizeof *table);
    for (long set = 1; set < sets; set++) {
        for (long last = 0; last < inner; last++) {
            long rest = set & ~(1L << last);
            int shortest = rest == 0 ? distances[0][last + 1] : INT32_MAX / 2;
            for (long before = 0; rest != 0 && before < inner; before++) {
                if (rest >> before & 1) {
                    int length = table[rest * inner + before] + distances[before + 1][last + 1];
                    shortest = length < shortest ? length : shortest;
                }
            }
            table[set * inner + last] = set >> last & 1 ? shortest : INT32_MAX / 2;
        }
    }
    int shortest = INT32_MAX;
    for (long last = 0; last < inner; last++) {
        int length = table[(sets - 1) * inner + last] + distances[last + 1][0];
        shortest = length < shortest ? length : shortest;
    }
    free(table);
    return shortest;
}

int main(int count, char **words) {
    cities = arguments(count, words, 18, 4, MOST);
    uint64_t state = 1;
    for (long i = 0; i < cities; i++) {
        for (long j = 0; j < i; j++) {
            distances[i][j] = distances[j][i] = 1 + (int)next_below(&state, 1000);
        }
    }
    run_team(body);
    return verdict(best == exact(), (uint64_t)best);
}
