// A buffer that both threads fill and compress. Nothing orders what the first writes after its last call.
// flags: -l:libz.so.1
// needs: zlib.h
// report: varies
#include "../programs/include/threads.h"
#include <zlib.h>

static unsigned char buffer[1000];

static void pack(unsigned char *out) {
    uLongf size = 2000;
    MUST(compress(out, &size, buffer, sizeof buffer) == Z_OK);
}

static void one(void) {
    unsigned char out[2000];
    turn(1);
    pack(out);
    next_turn();
    turn(3);
    buffer[7] = 1; //~ RACE buffer
    next_turn();
}

static void two(void) {
    unsigned char out[2000];
    turn(2);
    pack(out);
    next_turn();
    turn(4);
    buffer[7] = 2; //~ RACE buffer
    next_turn();
}

int main(void) {
    together(one, two);
}
