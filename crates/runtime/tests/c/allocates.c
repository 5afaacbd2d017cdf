// Every function of the allocator, its alignments and its errors.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void show(const char *name, void *block, size_t alignment) {
    printf("%s %d %d %d\n", name, block != NULL, (uintptr_t)block % alignment == 0, malloc_usable_size(block) >= 100);
    if (block != NULL) {
        memset(block, 1, 100);
    }
    free(block);
}

int main(void) {
    volatile size_t huge = SIZE_MAX / 2;
    void *block = NULL;
    show("malloc", malloc(100), 16);
    show("calloc", calloc(10, 10), 16);
    show("realloc", realloc(malloc(10), 100), 16);
    show("reallocarray", reallocarray(malloc(10), 10, 10), 16);
    show("memalign", memalign(64, 100), 64);
    show("aligned_alloc", aligned_alloc(256, 512), 256);
    printf("%d\n", posix_memalign(&block, 1024, 100));
    show("posix_memalign", block, 1024);
    show("valloc", valloc(100), 4096);
    show("pvalloc", pvalloc(100), 4096);
    errno = 0;
    printf("%d ", malloc(huge) == NULL);
    printf("%d\n", errno == ENOMEM);
    errno = 0;
    printf("%d ", reallocarray(NULL, huge, 4) == NULL);
    printf("%d\n", errno == ENOMEM);
    errno = 0;
    printf("%d ", calloc(huge, 4) == NULL);
    printf("%d\n", errno == ENOMEM);
    printf("%d\n", posix_memalign(&block, 3, 100) == EINVAL);
    block = malloc(100);
    printf("%d\n", realloc(block, huge) == NULL);
    free(block);
    errno = 77;
    free(malloc(1));
    free(NULL);
    printf("%d\n", errno);
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map[0] = 5;
    map = mremap(map, 8192, 1 << 20, MREMAP_MAYMOVE);
    printf("%d ", map[0]);
    printf("%d\n", munmap(map, 1 << 20));
    printf("%d\n", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    return 0;
}
