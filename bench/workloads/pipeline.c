// Stages in a row, one thread each, hand blocks of numbers on through queues with a mutex and a condition; the blocks come
// back to the first stage to be used again: TREE's pipeline. Checked by computing all blocks alone.
// suite: tree-rdit
// size: 500000 quick: 4000 sweep: 50000 120000 250000 500000
#include "include/team.h"

enum { NUMBERS = 32, IN_FLIGHT = 16 };

struct block {
    struct block *next;
    // The number of the block; after the last one comes an empty one with -1.
    long number;
    long handed_on;
    uint64_t numbers[NUMBERS];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    struct block *first, **last;
};

static long blocks;
// The queue into each stage. The first stage's has the blocks that are free.
static struct queue *queues;
static uint64_t sum;
static long handed_on;

static void push(struct queue *queue, struct block *block) {
    block->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->last = block;
    queue->last = &block->next;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static struct block *pop(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first) {
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    }
    struct block *block = queue->first;
    queue->first = block->next;
    if (!queue->first) {
        queue->last = &queue->first;
    }
    pthread_mutex_unlock(&queue->lock);
    return block;
}

static void hand_on(struct block *block, long stage) {
#ifdef RACE
    // The next stage may already have it.
    push(&queues[stage], block);
    block->handed_on++; //~ RACE handed_on
#else
    block->handed_on++;
    push(&queues[stage], block);
#endif
}

static void fill(struct block *block, long number) {
    block->number = number;
    for (int i = 0; i < NUMBERS; i++) {
        block->numbers[i] = (uint64_t)(number * NUMBERS + i);
    }
}

static void transform(struct block *block, long stage) {
    for (int i = 0; i < NUMBERS; i++) {
        block->numbers[i] = scramble(block->numbers[i] + (uint64_t)stage);
    }
}

static uint64_t add_up(const struct block *block) {
    uint64_t result = 0;
    for (int i = 0; i < NUMBERS; i++) {
        result ^= block->numbers[i];
    }
    return result;
}

static void body(long me) {
    for (long number = 0;; number++) {
        struct block *block = pop(&queues[me]);
        if (me == 0) {
            fill(block, number < blocks ? number : -1);
            block->handed_on = 0; //~ RACE handed_on
        }
        int end = block->number < 0;
        if (!end) {
            transform(block, me);
        }
        if (me < threads - 1) {
            hand_on(block, me + 1);
        } else if (end) {
            handed_on += block->handed_on; //~ RACE handed_on
        } else {
            sum += add_up(block);
            handed_on += block->handed_on; //~ RACE handed_on
            push(&queues[0], block);
        }
        if (end) {
            return;
        }
    }
}

int main(int count, char **words) {
    blocks = arguments(count, words, 500000, 1, 1L << 40);
    threads = threads < 2 ? 2 : threads;
    queues = room(threads, sizeof *queues);
    for (int stage = 0; stage < threads; stage++) {
        pthread_mutex_init(&queues[stage].lock, NULL);
        pthread_cond_init(&queues[stage].not_empty, NULL);
        queues[stage].last = &queues[stage].first;
    }
    struct block *pool = room(IN_FLIGHT, sizeof *pool);
    for (int i = 0; i < IN_FLIGHT; i++) {
        push(&queues[0], &pool[i]);
    }
    run_team(body);
    uint64_t expected = 0;
    for (long number = 0; number < blocks; number++) {
        struct block block;
        fill(&block, number);
        for (long stage = 0; stage < threads; stage++) {
            transform(&block, stage);
        }
        expected += add_up(&block);
    }
    return verdict(sum == expected && handed_on == (blocks + 1) * (threads - 1), sum);
}
