// Two threads go through one array by masks and indices that do not meet.
// flags: -O3 -mavx2
// cpu: avx2
#include "../include/threads.h"

enum { SIZE = 256 };

int numbers[SIZE];
int source[SIZE];
int chosen[2][SIZE];
int places[2][SIZE / 2];
int gathered[2][SIZE / 2];

static void *half(void *argument) {
    long n = (long)argument;
    for (int i = 0; i < SIZE; i++) {
        if (chosen[n][i]) {
            numbers[i] = source[i] + 1;
        }
    }
    for (int i = 0; i < SIZE / 2; i++) {
        gathered[n][i] = numbers[places[n][i]];
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < SIZE; i++) {
        source[i] = i;
        chosen[i % 2][i] = 1;
        places[i % 2][i / 2] = i;
    }
    crowd(2, half);
    int sum = 0;
    for (int i = 0; i < SIZE / 2; i++) {
        sum += gathered[0][i] + gathered[1][i];
    }
    printf("%d\n", sum);
}
