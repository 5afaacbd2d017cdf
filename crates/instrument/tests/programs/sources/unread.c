// What the program does not read must not be checked, however fast it would be to read it and throw it away.
#include <stdint.h>
_Alignas(64) int32_t mem[64];
static volatile int one = 1, zero = 0;
static volatile int sink;
static _Alignas(64) int chosen[16] = {[2] = 1, [11] = 1};

__attribute__((noinline)) int either(int c) { return *(c ? &mem[1] : &mem[9]); }
__attribute__((noinline)) int maybe(int c, int d) {
    int r = d;
    if (c) r = mem[2];
    return r;
}
__attribute__((noinline)) int some(const int *which) {
    int sum = 0;
    for (int i = 0; i < 16; i++)
        if (which[i]) sum += mem[i];
    return sum;
}
int main(void) {
    sink = either(one);        // expect: read 4 4
    sink = either(zero);       // expect: read 36 4
    sink = maybe(zero, 1);
    sink = maybe(one, 1);      // expect: read 8 4
    chosen[0] = zero;
    sink = some(chosen);       // expect: read 8 4
                               // expect: read 44 4
    return 0;
}
