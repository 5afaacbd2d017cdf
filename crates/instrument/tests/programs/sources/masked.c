// Vector accesses with masks: only the elements that are on. Without AVX they are single accesses in the end, and the
// checks must not know.
#include <stdint.h>
_Alignas(64) char mem[256];
typedef int v4 __attribute__((ext_vector_type(4)));
typedef _Bool m4 __attribute__((ext_vector_type(4)));

static volatile int one = 1, zero = 0;

int main(void) {
    int *m = (int *)mem;
    m4 mask = {one, zero, zero, one};
    // expect: read_range 0 4
    // expect: read_range 12 4
    v4 v = __builtin_masked_load(mask, (int *)m, (v4){5, 6, 7, 8});
    // expect: write_range 64 4
    // expect: write_range 76 4
    __builtin_masked_store(mask, v, (int *)(m + 16));
    m4 other = {zero, one, one, one};
    v4 at = {zero, one + 2, one + 4, one + 6};
    // expect: read_range 140 4
    // expect: read_range 148 4
    // expect: read_range 156 4
    v = __builtin_masked_gather(other, at, (int *)(m + 32));
    // expect: write_range 204 4
    // expect: write_range 212 4
    // expect: write_range 220 4
    __builtin_masked_scatter(other, at, v, (int *)(m + 48));
    // expect: read_range 4 12
    v = __builtin_masked_expand_load(other, (int *)(m + 1));
    // expect: write_range 32 8
    __builtin_masked_compress_store(mask, v, (int *)(m + 8));
    return 0;
}
