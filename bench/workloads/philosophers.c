// Philosophers at a round table, each with two of the forks, taken in the order of their numbers: the oldest of the small
// programs that papers on monitors use, TREE's among them. Checked by the uses of each fork.
// suite: tree-rdit
// size: 14000000 quick: 30000 sweep: 1750000 3500000 7000000 14000000
#include "include/team.h"

struct fork {
    pthread_mutex_t lock;
    long uses;
};

static long meals;
static struct fork *forks;
static uint64_t *thoughts;

static void body(long me) {
    long other = (me + 1) % threads;
    struct fork *first = &forks[me < other ? me : other], *second = &forks[me < other ? other : me];
    uint64_t thought = (uint64_t)me;
    for (long meal = first_of(meals, me); meal < first_of(meals, me + 1); meal++) {
        for (int i = 0; i < 20; i++) {
            thought = scramble(thought + 1);
        }
        pthread_mutex_lock(&first->lock);
        if (second != first) {
            pthread_mutex_lock(&second->lock);
        }
#ifndef RACE
        first->uses++;
        second->uses++;
#endif
        if (second != first) {
            pthread_mutex_unlock(&second->lock);
        }
        pthread_mutex_unlock(&first->lock);
#ifdef RACE
        // Counted when the forks are already down again.
        first->uses++; //~ RACE uses
        second->uses++; //~ RACE uses
#endif
    }
    thoughts[me] = thought;
}

int main(int count, char **words) {
    meals = arguments(count, words, 14000000, 2, 1L << 40);
    forks = room(threads, sizeof *forks);
    thoughts = room(threads, sizeof *thoughts);
    for (int i = 0; i < threads; i++) {
        pthread_mutex_init(&forks[i].lock, NULL);
    }
    run_team(body);
    int right = 1;
    uint64_t checksum = 0;
    for (long i = 0; i < threads; i++) {
        long before = (i + threads - 1) % threads;
        long expected = first_of(meals, i + 1) - first_of(meals, i) + first_of(meals, before + 1) - first_of(meals, before);
        right &= forks[i].uses == expected;
        checksum += (uint64_t)forks[i].uses;
    }
    return verdict(right, checksum);
}
