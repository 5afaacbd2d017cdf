// Atomics of all sizes and orders, and fences.
#include <stdatomic.h>
#include <stdint.h>
_Alignas(64) char mem[256];

int main(void) {
    _Atomic int32_t *i = (void *)(mem + 4);
    _Atomic int64_t *l = (void *)(mem + 8);
    _Atomic char *c = (void *)(mem + 3);
    _Atomic double *d = (void *)(mem + 16);
    // expect: begin 4
    // expect: end 4 4 store release
    atomic_store_explicit(i, 1, memory_order_release);
    // expect: begin 4
    // expect: end 4 4 load acquire
    (void)atomic_load_explicit(i, memory_order_consume);
    // expect: begin 8
    // expect: end 8 8 update seq_cst
    (void)atomic_fetch_add(l, 1);
    // expect: begin 3
    // expect: end 3 1 update relaxed
    (void)atomic_exchange_explicit(c, 1, memory_order_relaxed);
    // expect: begin 16
    // expect: end 16 8 store seq_cst
    atomic_store(d, 1.5);
    int32_t expected = 1;
    // expect: begin 4
    // expect: end 4 4 update acq_rel
    atomic_compare_exchange_strong_explicit(i, &expected, 2, memory_order_acq_rel, memory_order_acquire);
    // expect: begin 4
    // expect: end 4 4 load acquire
    atomic_compare_exchange_strong_explicit(i, &expected, 3, memory_order_acq_rel, memory_order_acquire);
    // expect: fence acquire
    atomic_thread_fence(memory_order_acquire);
    atomic_signal_fence(memory_order_seq_cst);
    return 0;
}
