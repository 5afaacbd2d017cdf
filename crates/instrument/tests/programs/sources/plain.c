// Sizes, alignments, bit fields, copies.
#include <stdint.h>
#include <string.h>

_Alignas(64) volatile char mem[256];

struct packed {
    char c;
    int32_t i;
    int64_t l;
} __attribute__((packed));

struct big {
    int64_t a[3];
};

struct fields {
    unsigned a : 3, b : 9;
};

__attribute__((noinline)) void pass(struct big by_value) { (void)*(volatile int64_t *)&by_value.a[0]; }

int main(void) {
    volatile char *m = mem;
    m[5] = 1;                                    // expect: write1 5
    *(volatile int16_t *)(m + 6) = 1;            // expect: write2 6
    *(volatile int32_t *)(m + 12) = 1;           // expect: write4 12
    *(volatile int64_t *)(m + 16) = 1;           // expect: write8 16
    *(volatile __int128 *)(m + 32) = 1;          // expect: write16 32
    (void)m[7];                                  // expect: read1 7
    (void)*(volatile int32_t *)(m + 12);         // expect: read4 12
    (void)*(volatile double *)(m + 16);          // expect: read8 16
    (void)*(volatile long double *)(m + 48);     // expect: read_range 48 10
    volatile struct packed *p = (void *)(m + 64);
    p->i = 2;                                    // expect: write_range 65 4
    (void)p->l;                                  // expect: read_range 69 8
    volatile struct fields *f = (void *)(m + 80);
    // expect: read2 80
    f->b = 4;                                    // expect: write2 80
    // expect: read1 5
    m[5]++;                                      // expect: write1 5
    // expect: read_range 96 24
    // expect: write_range 128 24
    *(volatile struct big *)(m + 128) = *(volatile struct big *)(m + 96);
    __builtin_memset((void *)(m + 160), 0, 40);  // expect: write_range 160 40
    // expect: read_range 96 24
    pass(*(struct big *)(m + 96));
    (void)*(struct big *volatile *)m;            // expect: read8 0
    return 0;
}
