// Counting needs no order; what was counted is read after the threads are joined. All operations there are.
#include "../include/atomics.h"

atomic_long added, bits, flipped, largest;
atomic_uchar small[8];

static void *count(void *argument) {
    long n = (long)argument;
    for (int i = 0; i < 200; i++) {
        atomic_fetch_add_explicit(&added, 2, RELAXED);
        atomic_fetch_sub_explicit(&added, 1, RELAXED);
        atomic_fetch_or_explicit(&bits, 1L << n, RELAXED);
        atomic_fetch_and_explicit(&bits, ~0L, RELAXED);
        atomic_fetch_xor_explicit(&flipped, 1L << n, RELAXED);
        atomic_fetch_add_explicit(&small[(n + i) % 8], 1, RELAXED);
        long now = LOAD(largest, RELAXED);
        while (now < n * i && !atomic_compare_exchange_weak_explicit(&largest, &now, n * i, RELAXED, RELAXED)) {
        }
    }
    return NULL;
}

int main(void) {
    crowd(8, count);
    printf("%ld %ld %ld %ld %d\n", added, bits, flipped, largest, small[3]);
}
