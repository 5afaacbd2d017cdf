// A monitor within a monitor: a bank with branches, transfers under the locks of two branches taken while the bank's is
// held: the nested monitors of TREE's and RDIT's programs. Checked by the
// money, which stays, and by the number of transfers.
// suite: tree-rdit
// size: 20000000 quick: 20000 sweep: 2500000 5000000 10000000 20000000
#include "include/team.h"

enum { BRANCHES = 64, START = 1000 };

struct branch {
    pthread_mutex_t lock;
    long money;
};

static long transfers;
static pthread_mutex_t bank_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by the bank's lock.
static long moved, made;
static struct branch branches[BRANCHES];

static void transfer(long from, long to, long amount) {
    pthread_mutex_lock(&bank_lock);
    moved += amount;
    struct branch *first = &branches[from < to ? from : to], *second = &branches[from < to ? to : from];
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    // The bank is free for others while the two branches settle it.
    pthread_mutex_unlock(&bank_lock);
    branches[from].money -= amount;
    branches[to].money += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

// A thread's own branch tells the bank how many transfers it made.
static void tell(long me, long number) {
    struct branch *branch = &branches[me % BRANCHES];
    guard(&bank_lock);
    pthread_mutex_lock(&branch->lock);
    // With the race, what the bank's lock guards is changed under the branch's.
    made += number; //~ RACE made
    pthread_mutex_unlock(&branch->lock);
    unguard(&bank_lock);
}

static void body(long me) {
    uint64_t state = (uint64_t)me + 1;
    long first = first_of(transfers, me), last = first_of(transfers, me + 1);
    for (long i = first; i < last; i++) {
        long from = next_below(&state, BRANCHES), to = next_below(&state, BRANCHES - 1);
        transfer(from, to + (to >= from), 1 + next_below(&state, 10));
    }
    meet();
    tell(me, last - first);
}

int main(int count, char **words) {
    transfers = arguments(count, words, 20000000, 1, 1L << 40);
    for (int i = 0; i < BRANCHES; i++) {
        pthread_mutex_init(&branches[i].lock, NULL);
        branches[i].money = START;
    }
    run_team(body);
    long sum = 0, expected_moved = 0;
    for (int i = 0; i < BRANCHES; i++) {
        sum += branches[i].money;
    }
    for (long me = 0; me < threads; me++) {
        uint64_t state = (uint64_t)me + 1;
        for (long i = first_of(transfers, me); i < first_of(transfers, me + 1); i++) {
            next_bits(&state);
            next_bits(&state);
            expected_moved += 1 + next_below(&state, 10);
        }
    }
    int right = sum == BRANCHES * START && moved == expected_moved && made == transfers;
    return verdict(right, (uint64_t)made);
}
