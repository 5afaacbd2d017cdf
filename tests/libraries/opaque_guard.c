// A library is given a block whose first page cannot be read, as coroutines have it for their stacks.
// library: opaque.c
#define _DEFAULT_SOURCE
#include "../programs/include/threads.h"
#include "opaque.h"

#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 16 * PAGE };

static struct opaque_queue *queue;

static void *maker(void *argument) {
    for (int i = 0; i < 50; i++) {
        char *block = NULL;
        MUST(posix_memalign((void **)&block, PAGE, SIZE) == 0);
        MUST(mprotect(block, PAGE, PROT_NONE) == 0);
        block[SIZE - 1] = (char)i;
        opaque_push(queue, block + SIZE - 1);
    }
    return argument;
}

int main(void) {
    queue = opaque_queue_new();
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, maker, NULL) == 0);
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        char *last = opaque_pop(queue);
        sum += *last;
        char *block = last - (SIZE - 1);
        MUST(mprotect(block, PAGE, PROT_READ | PROT_WRITE) == 0);
        free(block);
    }
    join(thread);
    opaque_queue_free(queue);
    printf("%d\n", sum);
}
