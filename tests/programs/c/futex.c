// A mutex out of atomics and the futex system call.
#include "../include/atomics.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// 0 free, 1 taken, 2 taken and somebody may wait.
atomic_int state;
int counter;

static void lock(void) {
    int zero = 0;
    if (atomic_compare_exchange_strong_explicit(&state, &zero, 1, ACQUIRE, RELAXED)) {
        return;
    }
    while (atomic_exchange_explicit(&state, 2, ACQUIRE) != 0) {
        syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
}

static void unlock(void) {
    if (atomic_exchange_explicit(&state, 0, RELEASE) == 2) {
        syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void *count(void *unused) {
    for (int i = 0; i < 500; i++) {
        lock();
        counter++;
        unlock();
    }
    return NULL;
}

int main(void) {
    crowd(4, count);
    printf("%d\n", counter);
}
