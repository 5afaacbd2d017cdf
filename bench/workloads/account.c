// Depositors change accounts under locks; the main thread waits until none of them is alive any more and adds up, without
// locks and before it joins them: RDIT's account, whose main thread waits with Java's isAlive(). What orders it is that
// the end of a thread is told with a release and asked for with an acquire. Checked by the sum of the deposits.
// suite: tree-rdit
// size: 60000000 quick: 50000 sweep: 6000000 15000000 30000000 60000000
#include <sched.h>
#include <stdatomic.h>

#include "include/team.h"

enum { ACCOUNTS = 16 };

#ifdef RACE
#define TOLD memory_order_relaxed
#define ASKED memory_order_relaxed
#else
#define TOLD memory_order_release
#define ASKED memory_order_acquire
#endif

struct account {
    pthread_mutex_t lock;
    long balance;
};

struct depositor {
    pthread_t thread;
    long first, last;
    atomic_int alive;
};

static struct account accounts[ACCOUNTS];

static void *deposit(void *argument) {
    struct depositor *me = argument;
    for (long i = me->first; i < me->last; i++) {
        uint64_t bits = scramble((uint64_t)i);
        struct account *account = &accounts[bits % ACCOUNTS];
        pthread_mutex_lock(&account->lock);
        account->balance += (long)(bits >> 40); //~ RACE balance
        pthread_mutex_unlock(&account->lock);
    }
    atomic_store_explicit(&me->alive, 0, TOLD);
    return NULL;
}

int main(int count, char **words) {
    long deposits = arguments(count, words, 60000000, 1, 1L << 40);
    struct depositor *depositors = room(threads, sizeof *depositors);
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
    }
    for (int i = 0; i < threads; i++) {
        depositors[i].first = first_of(deposits, i);
        depositors[i].last = first_of(deposits, i + 1);
        atomic_init(&depositors[i].alive, 1);
        if (pthread_create(&depositors[i].thread, NULL, deposit, &depositors[i])) {
            fprintf(stderr, "cannot start %d threads: choose fewer\n", threads);
            return 2;
        }
    }
    for (int i = 0; i < threads; i++) {
        while (atomic_load_explicit(&depositors[i].alive, ASKED)) {
            sched_yield();
        }
    }
    long sum = 0, expected = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        sum += accounts[i].balance; //~ RACE balance
    }
    for (long i = 0; i < deposits; i++) {
        expected += (long)(scramble((uint64_t)i) >> 40);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(depositors[i].thread, NULL);
    }
    return verdict(sum == expected, (uint64_t)sum);
}
