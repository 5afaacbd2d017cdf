// A gather written by hand reads one element that another thread wrote, and none beside it.
// flags: -O2 -mavx2
// cpu: avx2
// orders: both
#include "../include/threads.h"

#include <immintrin.h>

int numbers[64];
int seen[8];

static void writer(void) {
    turn(1);
    numbers[33] = 1; //~ RACE gathered
    numbers[34] = 2;
    next_turn();
}

static void reader(void) {
    turn(2);
    __m256i places = _mm256_setr_epi32(1, 3, 9, 33, 35, 37, 60, 63);
    __m256i found = _mm256_i32gather_epi32(numbers, places, 4); //~ RACE gathered
    _mm256_storeu_si256((__m256i *)seen, found);
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%d\n", seen[3]);
}
