// What a loop accesses in some rounds only the optimiser reads in front of it, and keeps; where no such round comes, the program does not.
// flags: -O2
#include "../include/threads.h"

long total, best, sum, deep;
static long row[64], other[64];
static volatile long rounds = 40, odd = 1;

static __attribute__((noinline)) void add(long n, long k) {
    for (long i = 0; i < n; i++) {
        if (i * 4 + k == 0) {
            total += i;
        }
        row[i] = 1;
    }
}

static __attribute__((noinline)) long keep(long n, long k) {
    long kept = 0;
    for (long i = 0; i < n; i++) {
        if (i * 4 + k == 0) {
            kept = best;
            best = i;
        }
        row[i] = 2;
    }
    return kept;
}

static __attribute__((noinline)) long choose(long n, long k) {
    long found = 0;
    for (long i = 0; i < n; i++) {
        if (i * 4 + k == 0) {
            found += sum;
        }
        if (other[i] == 77) {
            sum = i;
        }
        row[i] = 3;
    }
    return found;
}

static __attribute__((noinline)) void nest(long n, long k) {
    for (long j = 0; j < n; j++) {
        for (long i = 0; i < n; i++) {
            if (i * 4 + k == 0) {
                deep += j;
            }
            row[i] = j;
        }
    }
}

static void writer(void) {
    turn(1);
    total = 5;
    best = 6;
    sum = 7;
    deep = 8;
    next_turn();
}

static void reader(void) {
    turn(2);
    add(rounds, odd);
    long kept = keep(rounds, odd);
    long found = choose(rounds, odd);
    nest(rounds, odd);
    printf("%ld %ld\n", kept, found);
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%ld %ld %ld %ld\n", total, best, sum, deep);
}
