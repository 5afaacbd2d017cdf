// Structures of odd sizes side by side in an array, each copied by its own thread.
#include "../include/threads.h"

struct three { char bytes[3]; };
struct seven { char bytes[7]; };

struct three threes[8];
struct seven sevens[8];

static void *copy(void *argument) {
    long n = (long)argument;
    for (int i = 1; i <= 100; i++) {
        struct three three = {{n, i, n}};
        struct seven seven = {{i, n, 0, 0, 0, n, i}};
        threes[n] = three;
        sevens[n] = seven;
    }
    return NULL;
}

int main(void) {
    crowd(8, copy);
    for (int i = 0; i < 8; i++) {
        printf("%d %d %d %d\n", threes[i].bytes[0], threes[i].bytes[1], sevens[i].bytes[0], sevens[i].bytes[5]);
    }
}
