// Functions of the program's own that have the name and type of functions of the C library, and do something else.
#include "../include/threads.h"

#include <arpa/inet.h>

// In assembly, as if it came from another file: nothing but the name is known where they are called.
__asm__(".text\n.globl inet_pton\n.type inet_pton, @function\ninet_pton: movl $77, %eax\nret\n"
        ".globl dprintf\n.type dprintf, @function\ndprintf: movl %edi, %eax\naddl %edx, %eax\nret\n");

// Both use it at the same time, but neither function touches it.
static char shared[16] = "shared";

static void *work(void *argument) {
    for (int i = 0; i < 100; i++) {
        MUST(inet_pton(AF_INET6, "::1", shared) == 77);
        MUST(dprintf(1, "%d %s", 2, shared) == 3);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    puts(shared);
}
