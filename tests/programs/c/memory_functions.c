// The functions end where they are told to: the byte behind belongs to the other thread.
#include "../include/threads.h"

char copied[64], moved[64], set[64], compared[64], searched[64], from[64] = {[20] = 'x'};
volatile size_t length = 33;
int seen;

static void functions(void) {
    for (int i = 0; i < 100; i++) {
        memcpy(copied, from, length);
        memmove(moved, from, length);
        memset(set, 1, length);
        seen += memcmp(compared, from, 20);
        // memchr looks no further than to what it finds.
        seen += memchr(from, 'x', 64) != NULL;
        memcpy(copied + 40, from, 0);
    }
}

static void bytes(void) {
    for (int i = 0; i < 100; i++) {
        copied[33]++;
        moved[33]++;
        set[33]++;
        compared[20]++;
        from[40]++;
        copied[40]++;
    }
}

int main(void) {
    together(functions, bytes);
    printf("%d %d %d %d %d\n", copied[33], moved[33], set[33], from[40], seen);
}
