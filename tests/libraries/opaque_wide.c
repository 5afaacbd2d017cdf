// Calls that reach more than can be looked at: threads meet in any of it, and atomics of the program's are ordered with all of it.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

enum { PLACES = 6000 };

static struct opaque_slot *slots[PLACES];
static _Atomic int *raised, *awaited;
static long data, behind, before;

static void *table_of_all(void *last) {
    void **table = calloc(PLACES + 1, sizeof *table);
    for (int i = 0; i < PLACES; i++) {
        table[i] = slots[i];
    }
    table[PLACES] = last;
    return table;
}

static void reader(void) {
    // Said before there is any such call.
    before = 1;
    STORE(*awaited, 1, RELEASE);
    next_turn();
    struct opaque_slot **table = table_of_all(NULL);
    turn(3);
    long *found = opaque_get_from(table, PLACES - 1);
    long sum = *found;
    next_turn();
    AWAIT(*raised, 1, ACQUIRE);
    printf("%ld\n", sum + behind);
}

static void writer(void) {
    turn(2);
    _Atomic int **flags = table_of_all(awaited);
    opaque_await_in(flags, PLACES);
    MUST(before == 1);
    next_turn();
    data = 1;
    opaque_put(slots[PLACES - 1], &data);
    // Only the atomic tells the other of what follows: no call of his is open.
    turn(4);
    flags[PLACES] = raised;
    behind = 1;
    opaque_raise_from(flags, PLACES);
}

int main(void) {
    raised = calloc(1, sizeof *raised);
    awaited = calloc(1, sizeof *awaited);
    for (int i = 0; i < PLACES; i++) {
        slots[i] = opaque_slot_new();
    }
    together(reader, writer);
}
