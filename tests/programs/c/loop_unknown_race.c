// Loops of which nobody knows when they end: one that looks for the end of a text, and one whose end is read in each round. What they access
// is checked in batches, of which the first and what is left over each have a race.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 1000 };

char text[SIZE + 1];
long numbers[SIZE];
volatile long end = SIZE;

static __attribute__((noinline)) long length(const char *at) {
    const char *from = at;
    while (*at == 'x') at++; //~ RACE first last
    return at - from;
}

static __attribute__((noinline)) void count(void) {
    for (long i = 0; i < end; i++) numbers[i] = i; //~ RACE number
}

static void walk(void) {
    turn(1);
    printf("%ld\n", length(text));
    count();
    next_turn();
}

static void change(void) {
    turn(2);
    text[7] = 'y'; //~ RACE first
    text[SIZE - 7] = 'y'; //~ RACE last
    printf("%ld\n", numbers[SIZE - 1]); //~ RACE number
    next_turn();
}

int main(void) {
    for (long i = 0; i < SIZE; i++) text[i] = 'x';
    together(walk, change);
}
