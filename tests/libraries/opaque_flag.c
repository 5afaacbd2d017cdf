// Flags of the program, wherever memory can be: the library raises some and the program's atomic loads see it, the program
// raises others and the library waits for them.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/threads.h"
#include "opaque.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { ROUNDS = 100, PLACES = 4 };

static _Atomic int in_data[2 * ROUNDS];
static _Atomic int *flags[PLACES];
static int data[PLACES][2 * ROUNDS];

static void await(_Atomic int *flag) {
    while (!atomic_load_explicit(flag, memory_order_acquire)) {
        sched_yield();
    }
}

static void giver(void) {
    for (int i = 0; i < 2 * ROUNDS; i += 2) {
        for (int place = 0; place < PLACES; place++) {
            data[place][i] = i;
            opaque_raise(&flags[place][i]);
            data[place][i + 1] = i;
            atomic_store_explicit(&flags[place][i + 1], 1, memory_order_release);
        }
    }
}

static void taker(void) {
    long sum = 0;
    for (int i = 0; i < 2 * ROUNDS; i += 2) {
        for (int place = 0; place < PLACES; place++) {
            await(&flags[place][i]);
            sum += data[place][i];
            opaque_await(&flags[place][i + 1]);
            sum += data[place][i + 1];
        }
    }
    printf("%ld\n", sum);
}

int main(void) {
    _Atomic int on_stack[2 * ROUNDS] = {0};
    int size = sizeof on_stack;
    flags[0] = in_data;
    flags[1] = calloc(1, size);
    flags[2] = on_stack;
    flags[3] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(flags[3] != MAP_FAILED);
    together(giver, taker);
}
