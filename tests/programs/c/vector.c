// Vectors side by side; and a loop that the compiler turns into vector code.
// flags: -O3
#include "../include/threads.h"

enum { HALF = 1000 };

typedef int four __attribute__((vector_size(16)));

four vectors[2];
int numbers[2 * HALF + 1];

static void *own(void *argument) {
    long n = (long)argument;
    for (int i = 0; i < 100; i++) {
        vectors[n] += (four){1, 2, 3, 4};
    }
    // The second half starts at an odd index.
    int *mine = numbers + n * (HALF + 1);
    for (int i = 0; i < HALF; i++) {
        mine[i] += i;
    }
    return NULL;
}

int main(void) {
    crowd(2, own);
    printf("%d %d %d\n", vectors[0][3], vectors[1][0], numbers[2 * HALF]);
}
