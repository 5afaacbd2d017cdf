// Each thread changes places of its own, under a lock that only it takes: Goldilocks' localspot. Checked by doing the same
// alone.
// suite: goldilocks
// size: 80000000 quick: 100000 sweep: 8000000 20000000 40000000 80000000
#include "include/team.h"

enum { PLACES = 64 };

struct spot {
    pthread_mutex_t lock;
    uint64_t places[PLACES];
};

static long rounds;
static struct spot *spots;

static void change(struct spot *spot, long me, long rounds_of_it) {
    uint64_t state = (uint64_t)me + 1;
    for (long i = 0; i < rounds_of_it; i++) {
        uint64_t bits = next_bits(&state);
        guard(&spot->lock);
        spot->places[bits % PLACES] += bits; //~ RACE places
        unguard(&spot->lock);
    }
}

static void body(long me) {
    long mine = me;
#ifdef RACE
    // Rounded, so that two threads have the same spot.
    mine = me / 2;
#endif
    change(&spots[mine], me, first_of(rounds, me + 1) - first_of(rounds, me));
}

int main(int count, char **words) {
    rounds = arguments(count, words, 80000000, 2, 1L << 40);
    spots = room(threads, sizeof *spots);
    for (int i = 0; i < threads; i++) {
        pthread_mutex_init(&spots[i].lock, NULL);
    }
    run_team(body);
    int right = 1;
    uint64_t checksum = 0;
    for (long me = 0; me < threads; me++) {
        struct spot again = {.lock = PTHREAD_MUTEX_INITIALIZER};
        change(&again, me, first_of(rounds, me + 1) - first_of(rounds, me));
        for (long i = 0; i < PLACES; i++) {
            right &= again.places[i] == spots[me].places[i];
            checksum = scramble(checksum ^ spots[me].places[i]);
        }
    }
    return verdict(right, checksum);
}
