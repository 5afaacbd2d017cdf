// io_uring by raw system calls: the kernel fills memory that another thread reads when it has seen the completion. All this
// is code that is not seen; nothing is made up about it. Where the kernel has none, or does not allow it, pipes will do.
#include "../include/atomics.h"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static int ring, ends[2];
static char *rings;
static struct io_uring_sqe *entries;
static struct io_uring_params params;
static long values[ROUNDS], got[ROUNDS];

static _Atomic unsigned *at(unsigned offset) {
    return (_Atomic unsigned *)(rings + offset);
}

static void submits(void) {
    for (int i = 0; i < ROUNDS; i++) {
        unsigned tail = LOAD(*at(params.sq_off.tail), RELAXED), slot = tail & LOAD(*at(params.sq_off.ring_mask), RELAXED);
        entries[slot] = (struct io_uring_sqe){
            .opcode = IORING_OP_READ, .fd = ends[0], .addr = (unsigned long)&got[i], .len = sizeof got[i], .user_data = i};
        ((unsigned *)(rings + params.sq_off.array))[slot] = slot;
        STORE(*at(params.sq_off.tail), tail + 1, RELEASE);
        values[i] = i;
        MUST(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1);
        MUST(write(ends[1], &values[i], sizeof values[i]) == sizeof values[i]);
    }
}

static void completes(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned head = LOAD(*at(params.cq_off.head), RELAXED);
        while (LOAD(*at(params.cq_off.tail), ACQUIRE) == head) {
            syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        }
        struct io_uring_cqe *all = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
        struct io_uring_cqe done = all[head & LOAD(*at(params.cq_off.ring_mask), RELAXED)];
        STORE(*at(params.cq_off.head), head + 1, RELEASE);
        MUST(done.res == sizeof(long));
        sum += got[done.user_data];
    }
    printf("%ld\n", sum);
}

static void without(void) {
    for (int i = 0; i < ROUNDS; i++) {
        values[i] = i;
        MUST(write(ends[1], &values[i], sizeof values[i]) == sizeof values[i]);
    }
}

static void reads(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MUST(read(ends[0], &got[i], sizeof got[i]) == sizeof got[i]);
        sum += got[i];
    }
    printf("%ld\n", sum);
}

int main(void) {
    MUST(pipe(ends) == 0);
    ring = (int)syscall(SYS_io_uring_setup, 8, &params);
    if (ring < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP)) {
        together(without, reads);
        return 0;
    }
    size_t queue = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t completion = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    rings = mmap(NULL, queue > completion ? queue : completion, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    entries = mmap(NULL, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    MUST(rings != MAP_FAILED && entries != MAP_FAILED);
    together(submits, completes);
}
