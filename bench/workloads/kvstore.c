// A key-value store: a hash table with chains, a lock for each stripe of it, clients that get, put and delete: the core of
// many a server. Checked by what each client
// knows of its own keys, and by the sum over the keys of all.
// suite: server
// size: 50000000 quick: 40000 sweep: 6000000 12500000 25000000 50000000
#include "include/team.h"

enum { BUCKETS = 1 << 16, STRIPES = 64, SHARED = 16, OWN = 1 << 14 };

struct entry {
    struct entry *next;
    uint64_t key;
    // 0 if the key was deleted.
    uint64_t value;
};

static long requests;
static struct entry *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];
static struct entry **pools;
static uint64_t *misses;

static long bucket_of(uint64_t key) {
    return (long)(scramble(key) % BUCKETS);
}

static struct entry *find(long bucket, uint64_t key) {
    struct entry *entry = buckets[bucket]; //~ RACE bucket
    while (entry && entry->key != key) { //~ RACE entry
        entry = entry->next; //~ RACE entry
    }
    return entry;
}

static uint64_t get(uint64_t key) {
    long bucket = bucket_of(key);
    guard(&stripes[bucket % STRIPES]);
    struct entry *entry = find(bucket, key);
    uint64_t value = entry ? entry->value : 0; //~ RACE entry
    unguard(&stripes[bucket % STRIPES]);
    return value;
}

// Adds to a value, which is 0 if there is none. `spare` is used for a new entry and then replaced.
static void add(uint64_t key, uint64_t value, struct entry **spare) {
    long bucket = bucket_of(key);
    pthread_mutex_lock(&stripes[bucket % STRIPES]);
    struct entry *entry = find(bucket, key);
    if (!entry) {
        entry = (*spare)++;
        entry->next = buckets[bucket]; //~ RACE entry
        entry->key = key; //~ RACE entry
        buckets[bucket] = entry; //~ RACE bucket
    }
    entry->value += value; //~ RACE entry
    pthread_mutex_unlock(&stripes[bucket % STRIPES]);
}

static void delete(uint64_t key) {
    long bucket = bucket_of(key);
    pthread_mutex_lock(&stripes[bucket % STRIPES]);
    struct entry *entry = find(bucket, key);
    if (entry) {
        entry->value = 0; //~ RACE entry
    }
    pthread_mutex_unlock(&stripes[bucket % STRIPES]);
}

static long action_of(uint64_t bits) {
    return (long)(bits >> 61);
}

static void body(long me) {
    struct entry *spare = pools[me];
    uint64_t *known = room(OWN, sizeof *known);
    // All begin with the first of the shared keys.
    uint64_t seen = get(0);
    add(0, 1, &spare);
    misses[me] += seen >= (uint64_t)threads;
    meet();
    for (long i = first_of(requests, me); i < first_of(requests, me + 1); i++) {
        uint64_t bits = scramble((uint64_t)i), value = bits >> 20;
        long which = (long)(bits % OWN), action = action_of(bits);
        uint64_t key = (uint64_t)(SHARED + me * OWN + which);
        if (action < 4) {
            misses[me] += get(key) != known[which];
        } else if (action < 6) {
            add(key, value, &spare);
            known[which] += value;
        } else if (action == 6) {
            delete(key);
            known[which] = 0;
        } else {
            add((uint64_t)which % SHARED, 1, &spare);
        }
    }
    free(known);
}

int main(int count, char **words) {
    requests = arguments(count, words, 50000000, MOST_THREADS, 1L << 40);
    pools = room(threads, sizeof *pools);
    misses = room(threads, sizeof *misses);
    for (int i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&stripes[i], NULL);
    }
    for (int thread = 0; thread < threads; thread++) {
        pools[thread] = room(OWN + SHARED, sizeof **pools);
    }
    run_team(body);
    uint64_t shared = 0, expected = (uint64_t)threads;
    int right = 1;
    for (int key = 0; key < SHARED; key++) {
        shared += get((uint64_t)key);
    }
    for (long i = 0; i < requests; i++) {
        expected += action_of(scramble((uint64_t)i)) == 7;
    }
    for (int thread = 0; thread < threads; thread++) {
        right &= misses[thread] == 0;
    }
    return verdict(right && shared == expected, shared - (uint64_t)threads);
}
