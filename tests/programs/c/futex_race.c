// Sleeping and waking by futex, with relaxed atomics: the kernel's wake orders nothing in the memory model.
#include "../include/atomics.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

atomic_int state;
int data;

static void waiter(void) {
    while (LOAD(state, RELAXED) == 0) {
        syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    printf("%d\n", data); //~ RACE data
}

static void waker(void) {
    data = 1; //~ RACE data
    STORE(state, 1, RELAXED);
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int main(void) {
    together(waiter, waker);
}
