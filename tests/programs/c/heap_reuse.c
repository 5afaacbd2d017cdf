// Memory goes from thread to thread through the allocator, which orders them only inside itself. Blocks this large are
// taken from an arena that all threads share.
#include "../include/threads.h"

#include <malloc.h>

enum { SIZE = 5000 };

static void *body(void *n) {
    for (int i = 0; i < 50; i++) {
        char *block = malloc(SIZE);
        memset(block, (int)(long)n, SIZE);
        block[i] = 1;
        free(block);
        long *zeros = calloc(SIZE, 1);
        MUST(zeros[i] == 0);
        zeros[i] = 1;
        free(zeros);
        sched_yield();
    }
    next_turn();
    return NULL;
}

static void *after(void *n) {
    invisible_wait((int)(long)n);
    return body(n);
}

int main(void) {
    mallopt(M_ARENA_MAX, 1);
    crowd(8, after);
    puts("done");
}
