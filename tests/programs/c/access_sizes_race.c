// Each access size, written by one thread and read by the other.
// orders: both
#include "../include/threads.h"

char byte;
short half;
int word;
long quad;
__int128 wide;
long sum;

static void writer(void) {
    turn(1);
    byte = 1; //~ RACE byte
    half = 2; //~ RACE half
    word = 3; //~ RACE word
    quad = 4; //~ RACE quad
    wide = 5; //~ RACE wide
    next_turn();
}

static void reader(void) {
    turn(2);
    sum += byte; //~ RACE byte
    sum += half; //~ RACE half
    sum += word; //~ RACE word
    sum += quad; //~ RACE quad
    sum += (long)wide; //~ RACE wide
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%ld\n", sum);
}
