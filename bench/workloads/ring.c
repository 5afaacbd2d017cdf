// Rings between neighbouring threads, one producer and one consumer each, with atomic positions and no locks: the first
// thread makes messages, those between change them, the last adds them up. Checked by computing all of them alone.
// suite: server
// size: 17000000 quick: 40000 sweep: 2000000 4000000 8000000 17000000
#include <sched.h>
#include <stdatomic.h>

#include "include/team.h"

enum { SLOTS = 1024, WORDS = 4 };

#ifdef RACE
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

struct message { uint64_t words[WORDS]; };
struct ring {
    // How many were written, and how many read; each is changed by one thread only.
    _Alignas(64) atomic_long written;
    _Alignas(64) atomic_long read;
    struct message slots[SLOTS];
};

static long messages;
static struct ring *rings;
static uint64_t sum;

static void send(struct ring *ring, const struct message *message) {
    long position = atomic_load_explicit(&ring->written, memory_order_relaxed);
    while (position - atomic_load_explicit(&ring->read, memory_order_acquire) == SLOTS) {
        sched_yield();
    }
    ring->slots[position % SLOTS] = *message; //~ RACE slots
    atomic_store_explicit(&ring->written, position + 1, PUBLISHED);
}

static void receive(struct ring *ring, struct message *message) {
    long position = atomic_load_explicit(&ring->read, memory_order_relaxed);
    while (atomic_load_explicit(&ring->written, memory_order_acquire) == position) {
        sched_yield();
    }
    *message = ring->slots[position % SLOTS]; //~ RACE slots
    atomic_store_explicit(&ring->read, position + 1, memory_order_release);
}

static struct message make(long number) {
    struct message message;
    for (int i = 0; i < WORDS; i++) {
        message.words[i] = (uint64_t)number + (uint64_t)i;
    }
    return message;
}

static void change(struct message *message) {
    for (int i = 0; i < WORDS; i++) {
        message->words[i] = scramble(message->words[i]);
    }
}

static uint64_t add_up(const struct message *message) {
    return message->words[0] ^ message->words[1] ^ message->words[2] ^ message->words[3];
}

static void body(long me) {
    for (long i = 0; i < messages; i++) {
        struct message message = make(i);
        if (me > 0) {
            receive(&rings[me - 1], &message);
        }
        change(&message);
        if (me < threads - 1) {
            send(&rings[me], &message);
        } else {
            sum += add_up(&message);
        }
    }
}

int main(int count, char **words) {
    messages = arguments(count, words, 17000000, 1, 1L << 40);
    threads = threads < 2 ? 2 : threads;
    rings = aligned_alloc(64, sizeof *rings * (size_t)threads);
    if (!rings) {
        fprintf(stderr, "not enough memory for so many threads: choose fewer\n");
        return 2;
    }
    for (int i = 0; i < threads; i++) {
        atomic_init(&rings[i].written, 0);
        atomic_init(&rings[i].read, 0);
    }
    run_team(body);
    uint64_t expected = 0;
    for (long i = 0; i < messages; i++) {
        struct message message = make(i);
        for (int thread = 0; thread < threads; thread++) {
            change(&message);
        }
        expected += add_up(&message);
    }
    return verdict(sum == expected, sum);
}
