// The inline tests, asked about every kind of shadow word (`decide` in mock.c). The accesses are all that is instrumented.
#include <stdint.h>
_Alignas(64) char mem[256];
struct loose2 { uint16_t v; } __attribute__((packed));
struct loose4 { uint32_t v; } __attribute__((packed));
struct loose8 { uint64_t v; } __attribute__((packed));
struct words { uint64_t v[4]; };
void decide(void (*access)(volatile void *), int size, int step, int write, int loose);

#define READ(name, type) \
    static void read_##name(volatile void *p) { (void)*(volatile type *)p; }
#define WRITE(name, type, value) \
    static void write_##name(volatile void *p) { *(volatile type *)p = value; }

READ(1, uint8_t) READ(2, uint16_t) READ(4, uint32_t) READ(8, uint64_t) READ(16, __int128)
WRITE(1, uint8_t, 1) WRITE(2, uint16_t, 1) WRITE(4, uint32_t, 1) WRITE(8, uint64_t, 1) WRITE(16, __int128, 1)
static void read_loose2(volatile void *p) { (void)((volatile struct loose2 *)p)->v; }
static void read_loose4(volatile void *p) { (void)((volatile struct loose4 *)p)->v; }
static void read_loose8(volatile void *p) { (void)((volatile struct loose8 *)p)->v; }
static void write_loose4(volatile void *p) { ((volatile struct loose4 *)p)->v = 1; }
static void write_words(volatile void *p) { *(struct words *)p = (struct words){{1, 2, 3, 4}}; }

int main(void) {
    decide(read_1, 1, 1, 0, 0);        // expect: read 1: 16384 decisions, 0 wrong
    decide(read_2, 2, 2, 0, 0);        // expect: read 2: 8192 decisions, 0 wrong
    decide(read_4, 4, 4, 0, 0);        // expect: read 4: 4096 decisions, 0 wrong
    decide(read_8, 8, 8, 0, 0);        // expect: read 8: 2048 decisions, 0 wrong
    decide(read_16, 16, 16, 0, 0);     // expect: read 16: 2048 decisions, 0 wrong
    decide(write_1, 1, 1, 1, 0);       // expect: write 1: 16384 decisions, 0 wrong
    decide(write_2, 2, 2, 1, 0);       // expect: write 2: 8192 decisions, 0 wrong
    decide(write_4, 4, 4, 1, 0);       // expect: write 4: 4096 decisions, 0 wrong
    decide(write_8, 8, 8, 1, 0);       // expect: write 8: 2048 decisions, 0 wrong
    decide(write_16, 16, 16, 1, 0);    // expect: write 16: 2048 decisions, 0 wrong
    decide(read_loose2, 2, 1, 0, 1);   // expect: read 2 loose: 18432 decisions, 0 wrong
    decide(read_loose4, 4, 1, 0, 1);   // expect: read 4 loose: 22528 decisions, 0 wrong
    decide(read_loose8, 8, 1, 0, 1);   // expect: read 8 loose: 30720 decisions, 0 wrong
    decide(write_loose4, 4, 1, 1, 1);  // expect: write 4 loose: 22528 decisions, 0 wrong
    decide(write_words, 32, 8, 1, 0);  // expect: write 32: 8192 decisions, 0 wrong
    return 0;
}
