// Threads meet in an object that only a pointer far inside of what the library is given leads to: at the end of blocks of 64 KiB and of
// 2 MiB, of a large block that is all zeros but there, and of an array in the stack.
// library: opaque.c
// rules: opaque.rules
#include "../programs/include/atomics.h"
#include "opaque.h"

enum { WAYS = 4, ROUNDS = 10, KIB = 1024 / sizeof(void *), LOCAL = 100 };
static const int sizes[WAYS] = {64 * KIB, 2048 * KIB, 256 * 1024 * KIB, LOCAL};

static struct opaque_slot *slots[WAYS][ROUNDS];
static long data[WAYS][ROUNDS], behind[WAYS];
static _Atomic int *flags[WAYS];

static void reader(void) {
    struct opaque_slot *local[LOCAL] = {0};
    long sum = 0;
    for (int way = 0; way < WAYS; way++) {
        struct opaque_slot **table = sizes[way] == LOCAL ? local : calloc(sizes[way], sizeof *table);
        for (int i = 0; i < ROUNDS; i++) {
            int at = sizes[way] - 3 - i;
            table[at] = slots[way][i];
            long *found = opaque_get_from(table, at);
            sum += *found;
        }
        // The other way round: an atomic of the program's sees what the library did far inside.
        AWAIT(*flags[way], 1, ACQUIRE);
        sum += behind[way];
        if (table != local) {
            free(table);
        }
    }
    printf("%ld\n", sum);
}

static void writer(void) {
    _Atomic int *local[LOCAL] = {0};
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            data[way][i] = way + i;
            opaque_put(slots[way][i], &data[way][i]);
        }
        _Atomic int **table = sizes[way] == LOCAL ? local : calloc(sizes[way], sizeof *table);
        table[sizes[way] - 1] = flags[way];
        behind[way] = 1;
        opaque_raise_from(table, sizes[way] - 1);
        if (table != local) {
            free(table);
        }
    }
}

int main(void) {
    for (int way = 0; way < WAYS; way++) {
        flags[way] = calloc(1, sizeof *flags[way]);
        for (int i = 0; i < ROUNDS; i++) {
            slots[way][i] = opaque_slot_new();
        }
    }
    together(reader, writer);
}
