// A ring of `io_uring` by raw system calls, as a program has it that does without a library.
#ifndef RINGS_H
#define RINGS_H

#include "atomics.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
    int descriptor;
    char *queues;
    struct io_uring_sqe *entries;
    struct io_uring_params params;
};

static inline _Atomic unsigned *ring_word(struct ring *ring, unsigned offset) {
    return (_Atomic unsigned *)(ring->queues + offset);
}

// Whether there is one: the kernel may have none, or not allow it.
static inline int make_ring(struct ring *ring, unsigned size) {
    struct io_uring_params *params = &ring->params;
    ring->descriptor = (int)syscall(SYS_io_uring_setup, size, params);
    if (ring->descriptor < 0 || !(params->features & IORING_FEAT_SINGLE_MMAP)) {
        return 0;
    }
    size_t submission = params->sq_off.array + params->sq_entries * sizeof(unsigned);
    size_t completion = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
    size_t len = submission > completion ? submission : completion;
    ring->queues = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->descriptor, IORING_OFF_SQ_RING);
    ring->entries = mmap(NULL, params->sq_entries * sizeof *ring->entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring->descriptor, IORING_OFF_SQES);
    MUST(ring->queues != MAP_FAILED && ring->entries != MAP_FAILED);
    return 1;
}

// Whether the kernel knows an operation.
static inline int knows(struct ring *ring, int operation) {
    enum { OPERATIONS = 256 };
    struct io_uring_probe *probe = calloc(1, sizeof *probe + OPERATIONS * sizeof probe->ops[0]);
    int known = syscall(SYS_io_uring_register, ring->descriptor, IORING_REGISTER_PROBE, probe, OPERATIONS) == 0 &&
                operation <= probe->last_op && probe->ops[operation].flags & IO_URING_OP_SUPPORTED;
    free(probe);
    return known;
}

// Submits an entry.
static inline void put(struct ring *ring, struct io_uring_sqe entry) {
    _Atomic unsigned *at = ring_word(ring, ring->params.sq_off.tail);
    unsigned tail = LOAD(*at, RELAXED), slot = tail & (ring->params.sq_entries - 1);
    ring->entries[slot] = entry;
    ((unsigned *)(ring->queues + ring->params.sq_off.array))[slot] = slot;
    STORE(*at, tail + 1, RELEASE);
    MUST(syscall(SYS_io_uring_enter, ring->descriptor, 1, 0, 0, NULL, 0) == 1);
}

// Waits for the next completion that has `user_data`.
static inline struct io_uring_cqe get(struct ring *ring) {
    _Atomic unsigned *at = ring_word(ring, ring->params.cq_off.head);
    for (;;) {
        unsigned head = LOAD(*at, RELAXED);
        while (LOAD(*ring_word(ring, ring->params.cq_off.tail), ACQUIRE) == head) {
            sched_yield();
        }
        struct io_uring_cqe *all = (struct io_uring_cqe *)(ring->queues + ring->params.cq_off.cqes);
        struct io_uring_cqe done = all[head & (ring->params.cq_entries - 1)];
        STORE(*at, head + 1, RELEASE);
        if (done.user_data) {
            return done;
        }
    }
}

#endif
