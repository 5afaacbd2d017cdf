// Ways through a program: the mock compares each context with the real stack.
#include <setjmp.h>
#include <stdlib.h>
_Alignas(64) volatile char mem[256];
static jmp_buf back;

static __attribute__((noinline)) void leaf(int i) { mem[i] = 1; }
static __attribute__((noinline)) void twice(int i) {
    leaf(i);
    leaf(i);
}
static __attribute__((noinline)) int down(int n) {
    if (n == 0) return mem[9];
    int below = down(n - 1);
    mem[8] = below;
    return below + n;
}
static __attribute__((noinline)) void jump(int n) {
    leaf(20);
    if (n == 0) longjmp(back, 1);
    jump(n - 1);
}
static __attribute__((noinline)) void tail(int n) {
    mem[30] = n;
    leaf(31);
}
static __attribute__((noinline)) void replace(int n) {
    leaf(32);
    __attribute__((musttail)) return tail(n);
}
static int order(const void *a, const void *b) {
    leaf(40);
    return *(const char *)a - *(const char *)b;
}

int main(void) {
    leaf(0);             // expect: write1 0
    twice(1);            // expect: write1 1
                         // expect: write1 1
    twice(2);            // expect: write1 2
                         // expect: write1 2
    down(2);             // expect: read1 9
                         // expect: write1 8
                         // expect: write1 8
    if (setjmp(back) == 0) {
        jump(1);         // expect: write1 20
                         // expect: write1 20
    }
    mem[21] = 1;         // expect: write1 21
    leaf(22);            // expect: write1 22
    replace(1);          // expect: write1 32
                         // expect: write1 30
                         // expect: write1 31
    leaf(33);            // expect: write1 33
    // Called back from code that is not instrumented.
    char pair[2] = {1, 2};
    qsort(pair, 2, 1, order); // expect: write1 40
    leaf(41);            // expect: write1 41
    return 0;
}
