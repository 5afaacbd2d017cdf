// Radix sort, a digit of eight bits at a time: counts of each thread, places from all counts, then the keys moved: the
// theme of SPLASH's radix. Six rounds, each with new keys made of the old. Checked by the order of the keys and by a sum
// over them that does not depend on it.
// suite: splash
// size: 20000000 quick: 200000 sweep: 2500000 5000000 10000000 20000000
#include <string.h>

#include "include/team.h"

enum { BITS = 8, DIGITS = 1 << BITS, ROUNDS = 6 };

static long keys;
static uint32_t *from, *to;
static long (*counts)[DIGITS];
static uint32_t greatest;
static pthread_mutex_t greatest_lock = PTHREAD_MUTEX_INITIALIZER;

// The key that comes from a key in the next round.
static uint32_t next_key(uint32_t key) {
    return (uint32_t)(scramble(key + 1) >> 33);
}

static void find_greatest(long first, long last) {
    uint32_t mine = 0;
    for (long i = first; i < last; i++) {
        from[i] = next_key(from[i]);
        mine = from[i] > mine ? from[i] : mine;
    }
    guard(&greatest_lock);
    if (mine > greatest) { //~ RACE greatest
        greatest = mine; //~ RACE greatest
    }
    unguard(&greatest_lock);
}

static void sort(long me) {
    long first = first_of(keys, me), last = first_of(keys, me + 1), places[DIGITS];
    find_greatest(first, last);
    meet();
    uint32_t *source = from, *target = to, limit = greatest;
    for (int shift = 0; shift < 32 && limit >> shift > 0; shift += BITS) {
        memset(counts[me], 0, sizeof counts[me]);
        for (long i = first; i < last; i++) {
            counts[me][source[i] >> shift & (DIGITS - 1)]++;
        }
        meet();
        long place = 0;
        for (int digit = 0; digit < DIGITS; digit++) {
            for (int thread = 0; thread < threads; thread++) {
                if (thread == me) {
                    places[digit] = place;
                }
                place += counts[thread][digit];
            }
        }
        for (long i = first; i < last; i++) {
            target[places[source[i] >> shift & (DIGITS - 1)]++] = source[i];
        }
        meet();
        uint32_t *swapped = source;
        source = target;
        target = swapped;
    }
    if (source != from) {
        memcpy(from + first, source + first, sizeof *from * (size_t)(last - first));
    }
}

static void body(long me) {
    for (int round = 0; round < ROUNDS; round++) {
        sort(me);
        meet();
    }
}

int main(int count, char **words) {
    keys = arguments(count, words, 20000000, 2, 1L << 32);
    from = room(keys, sizeof *from);
    to = room(keys, sizeof *to);
    counts = room(threads, sizeof *counts);
    uint64_t state = 1, before = 0, after = 0, checksum = 0;
    for (long i = 0; i < keys; i++) {
        from[i] = (uint32_t)next_bits(&state) >> 1;
        uint32_t key = from[i];
        for (int round = 0; round < ROUNDS; round++) {
            key = next_key(key);
        }
        before += scramble(key);
    }
    run_team(body);
    int right = 1;
    for (long i = 0; i < keys; i++) {
        right &= i == 0 || from[i - 1] <= from[i];
        after += scramble(from[i]);
        checksum = checksum * 31 + from[i];
    }
    return verdict(right && before == after, checksum);
}
