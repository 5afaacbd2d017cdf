// Threads meet in an object that only a pointer far inside of what the library is given leads to: in a large block, in static data, in
// a stack, and in a block that is too large to be looked at.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

enum { WAYS = 4, ROUNDS = 10, LARGE = 20000, HUGE_ONE = 3 << 20, LOCAL = 100 };
static const int places[WAYS] = {LARGE - 3, 4000, LOCAL - 3, HUGE_ONE - 3};

static struct opaque_slot *slots[WAYS][ROUNDS], *fixed[5000];
static long data[WAYS][ROUNDS], behind;
static _Atomic int *flag;

static void reader(void) {
    struct opaque_slot *local[LOCAL] = {0};
    struct opaque_slot **tables[WAYS] = {calloc(LARGE, sizeof *local), fixed, local, calloc(HUGE_ONE, sizeof *local)};
    long sum = 0;
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            int at = places[way] - i;
            tables[way][at] = slots[way][i];
            long *found = opaque_get_from(tables[way], at);
            sum += *found;
        }
    }
    AWAIT(*flag, 1, ACQUIRE);
    printf("%ld\n", sum + behind);
    free(tables[0]);
    free(tables[3]);
}

static void writer(void) {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            data[way][i] = way + i;
            opaque_put(slots[way][i], &data[way][i]);
        }
    }
    // The other way round: an atomic of the program's sees what the library did far inside.
    _Atomic int **flags = calloc(HUGE_ONE, sizeof *flags);
    flags[HUGE_ONE - 3] = flag;
    behind = 1;
    opaque_raise_from(flags, HUGE_ONE - 3);
    free(flags);
}

int main(void) {
    flag = calloc(1, sizeof *flag);
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            slots[way][i] = opaque_slot_new();
        }
    }
    together(reader, writer);
}
