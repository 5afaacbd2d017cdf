// Atomic and plain accesses of one variable race; two atomic ones do not.
// orders: both
#include "../include/atomics.h"

int a, b, c, loaded, seen;

static void atomically(void) {
    turn(1);
    __atomic_store_n(&a, 1, __ATOMIC_SEQ_CST); //~ RACE store-read
    loaded = __atomic_load_n(&b, __ATOMIC_SEQ_CST); //~ RACE load-write
    __atomic_fetch_add(&c, 1, __ATOMIC_SEQ_CST); //~ RACE update-read
    next_turn();
}

static void plainly(void) {
    turn(2);
    seen += a; //~ RACE store-read
    b = 2; //~ RACE load-write
    seen += c; //~ RACE update-read
    next_turn();
}

int main(void) {
    together(atomically, plainly);
    printf("%d %d\n", seen, loaded);
}
