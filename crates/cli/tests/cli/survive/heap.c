#include "race.h"
#include <sys/resource.h>

// heap MB: a block of 10 GB, touched here and there by two threads, and the first megabytes of it densely.
static char *block;
static size_t dense;
static const size_t SIZE = 10ull << 30;

static void *touch(void *which) {
    size_t n = which ? 1 : 0;
    for (size_t i = n * 64; i < SIZE; i += 2 << 20)
        block[i]++;
    for (size_t i = n; i < dense / sizeof(long); i += 2)
        ((long *)block)[i]++;
    return 0;
}

int main(int count, char **arguments) {
    dense = count > 1 ? (size_t)atol(arguments[1]) << 20 : 0;
    block = malloc(SIZE);
    if (!block) {
        puts("no memory");
        return 3;
    }
    pthread_t a, b;
    pthread_create(&a, 0, touch, 0);
    pthread_create(&b, 0, touch, block);
    pthread_join(a, 0);
    pthread_join(b, 0);
    race();
    free(block);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss / 1024);
    return 4;
}
