// What a thread does after it has handed something to the kernel is not ordered by that.
// needs: linux/io_uring.h
#include "../include/rings.h"

static struct ring ring;
static long contents, later;
static int has_ring;

static void submits(void) {
    contents = 1;
    if (has_ring) {
        put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = (unsigned long)&contents});
    }
    turn(1);
    later = 1; //~ RACE later
    next_turn();
}

static void completes(void) {
    turn(2);
    if (has_ring) {
        MUST(*(long *)get(&ring).user_data == 1);
    }
    printf("%ld\n", later); //~ RACE later
}

int main(void) {
    // Without a ring the race is the same.
    has_ring = make_ring(&ring, 8);
    together(submits, completes);
}
