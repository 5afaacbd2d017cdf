// A multiset in an array of slots with a lock each; threads insert, delete and look up: Goldilocks' multiset. Checked by
// what is left, which each thread knows for its own elements.
// suite: goldilocks
// size: 800000 quick: 1500 sweep: 100000 200000 400000 800000
#include "include/team.h"

enum { SLOTS = 256, ELEMENTS = 64 };

struct slot {
    pthread_mutex_t lock;
    // 0 if the slot is free.
    long element;
};

static long operations;
static struct slot slots[SLOTS];
static long (*held)[ELEMENTS];
static long *found;

static int replace(struct slot *slot, long from, long to) {
    pthread_mutex_lock(&slot->lock);
    int same = slot->element == from;
    if (same) {
        slot->element = to; //~ RACE element
    }
    pthread_mutex_unlock(&slot->lock);
    return same;
}

static int change(long from, long to) {
    for (long i = 0; i < SLOTS; i++) {
        if (replace(&slots[i], from, to)) {
            return 1;
        }
    }
    return 0;
}

static int contains(long element) {
    for (long i = 0; i < SLOTS; i++) {
        guard(&slots[i].lock);
        int same = slots[i].element == element; //~ RACE element
        unguard(&slots[i].lock);
        if (same) {
            return 1;
        }
    }
    return 0;
}

static void body(long me) {
    uint64_t state = (uint64_t)me + 1;
    long mine = 0, most = SLOTS / threads;
    // The elements of different threads are different; nobody has inserted this one.
    found[me] = contains(-1);
    for (long i = 0; i < operations; i++) {
        long which = next_below(&state, ELEMENTS), element = 1 + me * ELEMENTS + which;
        int action = (int)next_below(&state, 4);
        if (action == 0 || mine == 0) {
            if (mine < most && change(0, element)) {
                held[me][which]++;
                mine++;
            }
        } else if (action == 1) {
            if (held[me][which] > 0) {
                found[me] += !change(element, 0);
                held[me][which]--;
                mine--;
            }
        } else {
            found[me] += contains(element) != (held[me][which] > 0);
        }
    }
}

int main(int count, char **words) {
    operations = arguments(count, words, 800000, 1, 1L << 40);
    held = room(threads, sizeof *held);
    found = room(threads, sizeof *found);
    for (long i = 0; i < SLOTS; i++) {
        pthread_mutex_init(&slots[i].lock, NULL);
    }
    run_team(body);
    int right = 1;
    uint64_t checksum = 0;
    for (long i = 0; i < SLOTS; i++) {
        if (slots[i].element > 0) {
            long element = slots[i].element - 1;
            held[element / ELEMENTS][element % ELEMENTS]--;
            checksum += scramble((uint64_t)element);
        }
    }
    for (long thread = 0; thread < threads; thread++) {
        right &= found[thread] == 0;
        for (long which = 0; which < ELEMENTS; which++) {
            right &= held[thread][which] == 0;
        }
    }
    return verdict(right, checksum);
}
