// A call waits for something that is put into its table while it waits, and is gone before it ends: by this two threads meet.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

#include <time.h>

enum { ROUNDS = 20, SIZES = 2 };
static const int sizes[SIZES] = {32, 4000};

static _Atomic(struct opaque_slot *) *tables[SIZES];
static long data[SIZES][ROUNDS];

static void reader(void) {
    long sum = 0;
    for (int s = 0; s < SIZES; s++) {
        for (int i = 0; i < ROUNDS; i++) {
            next_turn();
            long *found = opaque_get_when(tables[s], i);
            sum += *found;
        }
    }
    printf("%ld\n", sum);
}

static void writer(void) {
    for (int s = 0; s < SIZES; s++) {
        for (int i = 0; i < ROUNDS; i++) {
            turn(s * ROUNDS + i + 2);
            struct timespec moment = {0, 1000000};
            nanosleep(&moment, NULL);
            struct opaque_slot *slot = opaque_slot_new();
            __atomic_store_n((struct opaque_slot **)&tables[s][i], slot, __ATOMIC_RELAXED);
            // Until the library has taken it out.
            while (__atomic_load_n((struct opaque_slot **)&tables[s][i], __ATOMIC_RELAXED)) {
                sched_yield();
            }
            data[s][i] = s + i;
            opaque_put(slot, &data[s][i]);
        }
    }
}

int main(void) {
    for (int s = 0; s < SIZES; s++) {
        tables[s] = calloc(sizes[s], sizeof *tables[s]);
    }
    together(reader, writer);
}
