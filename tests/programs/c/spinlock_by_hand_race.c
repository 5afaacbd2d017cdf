// The same locks with an ordering too weak: they exclude, on this machine, but they do not order.
#include "../include/atomics.h"

atomic_flag taken = ATOMIC_FLAG_INIT;
atomic_uint ticket, serving;
int by_flag, by_ticket;

static void *count(void *argument) {
    turn((int)(long)argument + 1);
    while (atomic_flag_test_and_set_explicit(&taken, ACQUIRE)) sched_yield();
    by_flag++; //~ RACE flag
    atomic_flag_clear_explicit(&taken, RELAXED);

    unsigned mine = atomic_fetch_add_explicit(&ticket, 1, ACQ_REL);
    AWAIT(serving, mine, RELAXED);
    by_ticket++; //~ RACE ticket
    STORE(serving, mine + 1, RELEASE);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, count);
    printf("%d %d\n", by_flag, by_ticket);
}
