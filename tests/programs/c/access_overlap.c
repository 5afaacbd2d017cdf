// Accesses of different sizes in one word that share no byte.
#include "../include/threads.h"

union cell {
    long quad;
    int words[2];
    short halves[4];
    char bytes[8];
};

union cell cell;

static void low(void) {
    for (int i = 0; i < 100; i++) {
        cell.words[0]++;
    }
}

static void high(void) {
    for (int i = 0; i < 100; i++) {
        cell.halves[2]++;
        cell.bytes[6]++;
        cell.bytes[7]++;
    }
}

int main(void) {
    together(low, high);
    printf("%d %d %d %d\n", cell.words[0], cell.halves[2], cell.bytes[6], cell.bytes[7]);
}
