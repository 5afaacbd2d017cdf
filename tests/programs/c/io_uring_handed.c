// What a thread has made goes to another through a ring, by the address in an entry's `user_data`: from the one that submits to the one
// that sees the completion, in the ring itself, by a message of one ring to another, and by a pipe that a ring writes into.
// needs: linux/io_uring.h
#include "../include/rings.h"

enum { ROUNDS = 40, WAYS = 3 };

struct parcel {
    long contents;
};

static struct ring here, there;
static int ends[2];
static struct parcel parcels[WAYS][ROUNDS], *handed[ROUNDS];
static int with_messages;

static struct parcel *made(int way, int i) {
    struct parcel *parcel = &parcels[way][i];
    parcel->contents = way + i;
    return parcel;
}

static void submits(void) {
    for (int i = 0; i < ROUNDS; i++) {
        put(&here, (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = (unsigned long)made(0, i)});
    }
    for (int i = 0; i < ROUNDS; i++) {
        handed[i] = made(1, i);
        put(&here, (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = ends[1], .addr = (unsigned long)&handed[i], .len = sizeof handed[i]});
    }
    for (int i = 0; with_messages && i < ROUNDS; i++) {
        put(&here, (struct io_uring_sqe){.opcode = IORING_OP_MSG_RING, .fd = there.descriptor, .off = (unsigned long)made(2, i)});
    }
}

static void completes(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += ((struct parcel *)get(&here).user_data)->contents;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct parcel *parcel;
        MUST(read(ends[0], &parcel, sizeof parcel) == sizeof parcel);
        sum += parcel->contents;
    }
    for (int i = 0; with_messages && i < ROUNDS; i++) {
        sum += ((struct parcel *)get(&there).user_data)->contents;
    }
    MUST(sum == (with_messages ? 3 : 1) * ROUNDS + (with_messages ? 3 : 2) * (ROUNDS * (ROUNDS - 1) / 2));
}

int main(void) {
    MUST(pipe(ends) == 0);
    // What the pipe's other end sees does not depend on who looks at the completion.
    if (make_ring(&here, 4 * ROUNDS) && make_ring(&there, 4 * ROUNDS)) {
        with_messages = knows(&here, IORING_OP_MSG_RING);
        together(submits, completes);
    } else {
        fprintf(stderr, "skipped: no io_uring here\n");
    }
    puts("done");
}
