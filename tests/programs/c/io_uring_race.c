// What the kernel does for a ring orders nothing that a program does beside it: nobody saw the completion. Where the kernel
// has no rings, or does not allow them, the race is the same.
#include "../include/threads.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ring, data;

static void submits(void) {
    turn(1);
    data = 1; //~ RACE data
    syscall(SYS_io_uring_enter, ring, 0, 0, 0, NULL, 0);
    next_turn();
}

static void completes(void) {
    turn(2);
    syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
    printf("%d\n", data); //~ RACE data
}

int main(void) {
    struct io_uring_params params = {0};
    ring = (int)syscall(SYS_io_uring_setup, 8, &params);
    together(submits, completes);
}
