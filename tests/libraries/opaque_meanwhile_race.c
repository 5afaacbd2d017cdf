// What is done after a call has returned is not ordered by what was put into its table while it waited.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

enum { PLACES = 4000 };

static _Atomic(struct opaque_slot *) table[PLACES];
static int early, late;

static void reader(void) {
    int *found = opaque_get_when(table, 7);
    late = *found; //~ RACE late
    next_turn();
}

static void writer(void) {
    struct opaque_slot *slot = opaque_slot_new();
    __atomic_store_n((struct opaque_slot **)&table[7], slot, __ATOMIC_RELAXED);
    early = 1;
    opaque_put(slot, &early);
    turn(2);
    late = 2; //~ RACE late
    next_turn();
}

int main(void) {
    together(reader, writer);
}
