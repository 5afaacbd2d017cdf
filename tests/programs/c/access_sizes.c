// Eight threads, each with its own byte of one word; then four with halves of two words, then two with halves of 16 bytes.
#include "../include/threads.h"

_Alignas(16) char bytes[8];
_Alignas(16) short halves[8];
_Alignas(16) long quads[2];

static void *own_byte(void *n) {
    for (int i = 0; i < 100; i++) {
        bytes[(long)n]++;
    }
    return NULL;
}

static void *own_half(void *n) {
    for (int i = 0; i < 100; i++) {
        halves[(long)n]++;
    }
    return NULL;
}

static void *own_quad(void *n) {
    for (int i = 0; i < 100; i++) {
        quads[(long)n]++;
    }
    return NULL;
}

int main(void) {
    crowd(8, own_byte);
    crowd(8, own_half);
    crowd(2, own_quad);
    for (int i = 0; i < 8; i++) {
        printf("%d %d %ld\n", bytes[i], halves[i], quads[i % 2]);
    }
}
