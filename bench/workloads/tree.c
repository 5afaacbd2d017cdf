// A search tree that knows the size of each subtree, a lock for each node taken hand over hand from the root; threads insert
// keys and ask for ranks: pointers, small nodes, very many locks. Checked by the ranks in the tree that is left.
// suite: server
// size: 800000 quick: 5000 sweep: 80000 200000 400000 800000
#include "include/team.h"

struct node {
    pthread_mutex_t lock;
    struct node *left, *right;
    uint64_t key;
    // Nodes in this subtree, this one included.
    long size;
};

static long keys;
static struct node *nodes;
static long *bad;

static uint64_t key_of(long number) {
    return scramble((uint64_t)number + 1);
}

static void insert(struct node *node, struct node *fresh) {
    pthread_mutex_lock(&node->lock);
    for (;;) {
        node->size++; //~ RACE size
        struct node **link = fresh->key < node->key ? &node->left : &node->right;
        struct node *next = *link;
        if (!next) {
            *link = fresh; //~ RACE link
            pthread_mutex_unlock(&node->lock);
            return;
        }
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&node->lock);
        node = next;
    }
}

// How many keys are smaller than this one.
static long rank(struct node *node, uint64_t key) {
    long smaller = 0;
    guard(&node->lock);
    for (;;) {
        struct node *next = node->left; //~ RACE link
        if (key > node->key) {
            next = node->right; //~ RACE link
            long under = 0;
            if (next) {
                guard(&next->lock);
                under = next->size; //~ RACE size
            }
            smaller += node->size - under; //~ RACE size
        } else if (next) {
            guard(&next->lock);
        }
        unguard(&node->lock);
        if (!next) {
            return smaller;
        }
        node = next;
    }
}

static void body(long me) {
    uint64_t state = (uint64_t)me + 1;
    // First, how many there are.
    bad[me] = rank(nodes, UINT64_MAX) < 1;
    for (long i = 1 + first_of(keys - 1, me); i < 1 + first_of(keys - 1, me + 1); i++) {
        // Ranks only grow.
        uint64_t key = next_bits(&state);
        long before = rank(nodes, key);
        insert(nodes, &nodes[i]);
        long after = rank(nodes, key);
        bad[me] += after < before || after > keys;
    }
}

int main(int count, char **words) {
    keys = arguments(count, words, 800000, MOST_THREADS, 1L << 28);
    nodes = room(keys, sizeof *nodes);
    bad = room(threads, sizeof *bad);
    for (long i = 0; i < keys; i++) {
        pthread_mutex_init(&nodes[i].lock, NULL);
        nodes[i].key = key_of(i);
        nodes[i].size = 1;
    }
    run_team(body);
    // Of some keys, the rank counted among all.
    int right = nodes->size == keys;
    uint64_t checksum = 0;
    for (long i = 0; i < keys; i += keys / 16) {
        long smaller = 0;
        for (long j = 0; j < keys; j++) {
            smaller += key_of(j) < key_of(i);
        }
        long found = rank(nodes, key_of(i));
        right &= found == smaller;
        checksum = scramble(checksum ^ (uint64_t)found);
    }
    for (int thread = 0; thread < threads; thread++) {
        right &= bad[thread] == 0;
    }
    return verdict(right, checksum);
}
