// A terabyte is reserved and touched here and there: the detector must not need memory for all of it.
#include "../include/threads.h"

#include <sys/mman.h>

char *space;
static char bss[1L << 28];

static void *body(void *n) {
    for (long i = 0; i < 64; i++) {
        space[(i << 33) + (long)n] = 1;
        bss[(i << 22) + (long)n] = 1;
    }
    return NULL;
}

int main(void) {
    space = mmap(NULL, 1L << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(space != MAP_FAILED);
    crowd(4, body);
    printf("%d\n", space[63L << 33] + bss[63L << 22] + space[3]);
    munmap(space, 1L << 40);
}
