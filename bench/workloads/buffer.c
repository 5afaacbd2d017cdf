// A bounded buffer with a mutex and two conditions, producers on one side and consumers on the other: the textbook's
// program, in TREE's and many other papers. Checked by the sum of the items that were consumed.
// suite: tree-rdit
// size: 3000000 quick: 20000 sweep: 400000 800000 1500000 3000000
#include "include/team.h"

enum { CAPACITY = 64 };

static long items;
static int producers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static uint64_t slots[CAPACITY];
static long put_count, taken_count;
static uint64_t *sums;

static void put(uint64_t item) {
    pthread_mutex_lock(&lock);
    while (put_count - taken_count == CAPACITY) {
        pthread_cond_wait(&not_full, &lock);
    }
    uint64_t *slot = &slots[put_count++ % CAPACITY];
#ifdef RACE
    // The slot is reserved under the lock, and filled when the lock is free and consumers may already look at it.
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
    *slot = item; //~ RACE slots
#else
    *slot = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
#endif
}

// Whether there was one more.
static int take(uint64_t *item) {
    pthread_mutex_lock(&lock);
    while (put_count == taken_count && taken_count < items) {
        pthread_cond_wait(&not_empty, &lock);
    }
    int one_more = taken_count < items;
    if (one_more) {
        *item = slots[taken_count++ % CAPACITY]; //~ RACE slots
        pthread_cond_signal(&not_full);
    }
    if (taken_count == items) {
        // The others need not wait any more.
        pthread_cond_broadcast(&not_empty);
    }
    pthread_mutex_unlock(&lock);
    return one_more;
}

static void body(long me) {
    if (me < producers) {
        for (long i = items * me / producers; i < items * (me + 1) / producers; i++) {
            put(scramble((uint64_t)i));
        }
    } else {
        for (uint64_t item; take(&item);) {
            sums[me] += item;
        }
    }
}

int main(int count, char **words) {
    items = arguments(count, words, 3000000, MOST_THREADS, 1L << 40);
    threads = threads < 2 ? 2 : threads;
    producers = threads / 2;
    sums = room(threads, sizeof *sums);
    run_team(body);
    uint64_t sum = 0, expected = 0;
    for (int thread = 0; thread < threads; thread++) {
        sum += sums[thread];
    }
    for (long i = 0; i < items; i++) {
        expected += scramble((uint64_t)i);
    }
    return verdict(sum == expected, sum);
}
