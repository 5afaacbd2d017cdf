// Short names for C11 atomics, and stages of two threads each.
#ifndef ATOMICS_H
#define ATOMICS_H

#include <stdatomic.h>

#include "threads.h"

#define RELAXED memory_order_relaxed
#define CONSUME memory_order_consume
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define ACQ_REL memory_order_acq_rel
#define SEQ_CST memory_order_seq_cst

#define LOAD(object, order) atomic_load_explicit(&(object), order)
#define STORE(object, value, order) atomic_store_explicit(&(object), value, order)

// Waits for an atomic to have a value.
#define AWAIT(object, value, order) \
    while (atomic_load_explicit(&(object), order) != (value)) { \
        sched_yield(); \
    }

#endif
