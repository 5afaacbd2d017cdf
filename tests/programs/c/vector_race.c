// A vector of 16 and one of 32 bytes are written whole, one lane is read.
// flags: -O2
// orders: both
#include "../include/threads.h"

typedef int four __attribute__((vector_size(16)));
typedef int eight __attribute__((vector_size(32), aligned(16)));

four a;
eight b;
int seen;

static void writer(void) {
    turn(1);
    a = (four){1, 2, 3, 4}; //~ RACE four
    b = (eight){1, 2, 3, 4, 5, 6, 7, 8}; //~ RACE eight
    next_turn();
}

static void reader(void) {
    turn(2);
    seen += a[3]; //~ RACE four
    seen += b[7]; //~ RACE eight
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%d\n", seen);
}
