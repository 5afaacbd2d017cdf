// Blocks of every allocating function go from hand to hand under a lock, each thread resizing and freeing what others made.
#include "../include/threads.h"

#include <malloc.h>
#include <wchar.h>

enum { KINDS = 9, SIZE = 100 };

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
char *slots[KINDS];
int sum;

static char *allocate(int kind) {
    void *block = NULL;
    switch (kind) {
    case 0: block = malloc(SIZE); break;
    case 1: block = calloc(SIZE, 1); break;
    case 2: block = aligned_alloc(64, 128); break;
    case 3: MUST(posix_memalign(&block, 256, SIZE) == 0); break;
    case 4: block = memalign(32, SIZE); break;
    case 5: block = valloc(SIZE); break;
    case 6: block = reallocarray(NULL, SIZE, 1); break;
    case 7: block = realloc(malloc(10), SIZE); break;
    case 8: block = strdup("a string that is some fifty letters long, or even more"); break;
    }
    memset(block, 1, 50);
    return block;
}

static void *body(void *unused) {
    for (int i = 0; i < 100; i++) {
        int kind = i % KINDS;
        char *mine = allocate(kind);
        pthread_mutex_lock(&mutex);
        char *theirs = slots[kind];
        slots[kind] = mine;
        pthread_mutex_unlock(&mutex);
        if (theirs) {
            theirs = realloc(theirs, 1000 * (i % 3 + 1));
            theirs[40]++;
            theirs[999] = 1;
            MUST(malloc_usable_size(theirs) >= 1000);
            free(theirs);
        }
    }
    return NULL;
}

int main(void) {
    crowd(4, body);
    for (int kind = 0; kind < KINDS; kind++) {
        sum += slots[kind][49];
        free(slots[kind]);
    }
    printf("%d\n", sum);
}
