// All threads change the same place under the same lock: Goldilocks' sharedspot. Checked by the sum of what they added,
// computed alone.
// suite: goldilocks
// size: 40000000 quick: 50000 sweep: 4000000 10000000 20000000 40000000
#include "include/team.h"

static long rounds;
static uint64_t spot;
static pthread_mutex_t spot_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *last_seen;

static void body(long me) {
    for (long i = first_of(rounds, me); i < first_of(rounds, me + 1); i++) {
        uint64_t more = scramble((uint64_t)i);
        pthread_mutex_lock(&spot_lock);
        spot += more; //~ RACE spot
        pthread_mutex_unlock(&spot_lock);
    }
    // A last look at how far all have come.
    guard(&spot_lock);
    last_seen[me] = spot; //~ RACE spot
    unguard(&spot_lock);
}

int main(int count, char **words) {
    rounds = arguments(count, words, 40000000, 2, 1L << 40);
    last_seen = room(threads, sizeof *last_seen);
    run_team(body);
    uint64_t expected = 0;
    for (long i = 0; i < rounds; i++) {
        expected += scramble((uint64_t)i);
    }
    // Whoever looked last saw it all.
    int right = 0;
    for (int thread = 0; thread < threads; thread++) {
        right |= last_seen[thread] == expected;
    }
    return verdict(right && spot == expected, spot);
}
