// Calls of functions that the runtime knows, directly and by pointer.
#include <string.h>
_Alignas(64) char mem[256];
static void *(*volatile by_pointer)(void *, const void *, size_t) = memcpy;
static volatile size_t three = 3;

int main(void) {
    volatile char *m = mem;
    m[0] = 'a';                      // expect: write1 0
    __asm__ volatile("" ::: "memory");
    size_t n = strlen(mem);          // expect: strlen 0
    m[16] = n;                       // expect: write1 16
    // The compiler makes it its own instruction, which is checked in place.
    // expect: read_range 0 3
    // expect: write_range 32 3
    memcpy(mem + 32, mem, three);
    by_pointer(mem + 64, mem, 3);
    return 0;
}
