// Ranks of integer keys from a common histogram, which the threads add theirs to with atomics: the theme of NAS's integer
// sort. Checked by putting each key at its rank, which must sort them.
// suite: nas
// size: 26000000 quick: 10000 sweep: 2600000 5200000 13000000 26000000
#include <stdatomic.h>
#include <string.h>

#include "include/team.h"

enum { VALUES = 1 << 13, ROUNDS = 100 };

#ifdef RACE
typedef uint32_t counter;
#else
typedef _Atomic uint32_t counter;
#endif

static long keys;
static uint32_t *key;
static uint32_t **own;
static counter *common;
static uint32_t *ranks;

static void add(counter *to, uint32_t number) {
#ifdef RACE
    *to += number; //~ RACE common
#else
    atomic_fetch_add_explicit(to, number, memory_order_relaxed);
#endif
}

static void body(long me) {
    long first = first_of(VALUES, me), last = first_of(VALUES, me + 1);
    uint32_t *mine = own[me];
    for (int round = 0; round < ROUNDS; round++) {
        for (long value = first; value < last; value++) {
            common[value] = 0;
        }
        memset(mine, 0, sizeof *mine * VALUES);
        // As NAS does: two keys change between the rounds, so that a round is not the one before.
        if (me == 0) {
            key[round] = (uint32_t)round;
            key[round + ROUNDS] = (uint32_t)(VALUES - 1 - round);
        }
        meet();
        for (long i = first_of(keys, me); i < first_of(keys, me + 1); i++) {
            mine[key[i]]++;
        }
        for (long value = 0; value < VALUES; value++) {
            add(&common[value], mine[value]);
        }
        meet();
        if (me == 0) {
            uint32_t rank = 0;
            for (long value = 0; value < VALUES; value++) {
                ranks[value] = rank;
                rank += common[value];
            }
        }
        meet();
    }
}

int main(int count, char **words) {
    keys = arguments(count, words, 26000000, 2 * ROUNDS, 1L << 31);
    key = room(keys, sizeof *key);
    common = room(VALUES, sizeof *common);
    ranks = room(VALUES, sizeof *ranks);
    own = room(threads, sizeof *own);
    for (int thread = 0; thread < threads; thread++) {
        own[thread] = room(VALUES, sizeof **own);
    }
    uint64_t state = 1;
    for (long i = 0; i < keys; i++) {
        // The mean of four numbers: more in the middle than at the ends.
        long sum = 0;
        for (int j = 0; j < 4; j++) {
            sum += next_below(&state, VALUES);
        }
        key[i] = (uint32_t)(sum / 4);
    }
    run_team(body);
    uint32_t *sorted = room(keys, sizeof *sorted);
    uint64_t checksum = 0;
    for (long i = 0; i < VALUES; i++) {
        checksum = scramble(checksum ^ ranks[i]);
    }
    int right = 1;
    for (long i = 0; i < keys; i++) {
        uint32_t place = ranks[key[i]]++;
        right &= place < keys;
        if (place < keys) {
            sorted[place] = key[i] + 1;
        }
    }
    for (long i = 0; i < keys; i++) {
        right &= sorted[i] > 0 && (i == 0 || sorted[i - 1] <= sorted[i]);
    }
    return verdict(right, checksum);
}
