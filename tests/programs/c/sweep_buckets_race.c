// A loop fills the buckets of a sort, each from front to back, another one from back to front: what they have written is checked stretch
// by stretch, the last ones when the loop is left. Somebody else writes in the middle of a bucket, and at the ends of others.
// flags: -O2
// orders: both
#include "../include/threads.h"

enum { KEYS = 100000, DIGITS = 64 };

unsigned keys[KEYS], up[KEYS], down[KEYS];
int ends[DIGITS];

static __attribute__((noinline)) void fill_up(void) {
    int next[DIGITS] = {0};
    for (int i = 1; i < DIGITS; i++) next[i] = ends[i - 1];
    for (int i = 0; i < KEYS; i++) {
        up[next[keys[i] % DIGITS]++] = keys[i]; //~ RACE middle last
    }
}

static __attribute__((noinline)) void fill_down(void) {
    int next[DIGITS];
    for (int i = 0; i < DIGITS; i++) next[i] = ends[i];
    for (int i = 0; i < KEYS; i++) {
        down[--next[keys[i] % DIGITS]] = keys[i]; //~ RACE lowest
    }
}

static void fill(void) {
    turn(1);
    fill_up();
    fill_down();
    next_turn();
}

static void change(void) {
    turn(2);
    up[ends[2] + 500] = 1; //~ RACE middle
    up[ends[5] - 1] = 1; //~ RACE last
    down[ends[7]] = 1; //~ RACE lowest
    next_turn();
}

int main(void) {
    for (int i = 0; i < KEYS; i++) {
        keys[i] = (unsigned)i * 2654435761u >> 7;
        ends[keys[i] % DIGITS]++;
    }
    for (int i = 1; i < DIGITS; i++) ends[i] += ends[i - 1];
    together(fill, change);
}
