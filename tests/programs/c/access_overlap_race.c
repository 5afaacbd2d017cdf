// Accesses of different sizes and starts that share some bytes.
// orders: both
#include "../include/threads.h"

union cell {
    long quad;
    int words[2];
    short halves[4];
    char bytes[8];
};

union cell a, b, c, d;
long seen;

static void writer(void) {
    turn(1);
    a.quad = 1; //~ RACE quad-byte
    b.words[1] = 2; //~ RACE word-quad
    c.bytes[3] = 3; //~ RACE byte-half
    d.halves[2] = 4; //~ RACE half-word
    next_turn();
}

static void reader(void) {
    turn(2);
    seen += a.bytes[7]; //~ RACE quad-byte
    seen += b.quad; //~ RACE word-quad
    seen += c.halves[1]; //~ RACE byte-half
    seen += d.words[1]; //~ RACE half-word
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%ld\n", seen);
}
