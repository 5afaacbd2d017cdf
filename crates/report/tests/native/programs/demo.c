#include "marks.h"
#include <stdlib.h>

int counter; // LINE counter
static long table[16] = {1}; // LINE table
struct item {
    char name[24];
    int price;
} *item; // LINE item

static inline __attribute__((always_inline)) void add(int *to) {
    *to += 1; MARK(add); // LINE add
}

__attribute__((noinline)) void work(void) {
    table[2] = counter;
    add(&counter); // LINE call
    table[3] = counter;
}

__attribute__((noinline)) static void *worker(void *argument) {
    work(); MARK(worker); // LINE worker
    return argument;
}

int main(void) {
    item = malloc(sizeof *item); MARK(alloc); // LINE alloc
    item->price = 1; MARK(price); // LINE price
    worker(item); MARK(create); // LINE create
    return item->price == 0 ? 0 : (int)table[item->price];
}
