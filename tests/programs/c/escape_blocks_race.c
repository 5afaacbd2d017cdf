// Blocks of the heap that are filled before there is a second thread, and written again afterwards, each in another way: by the pointer that
// `malloc` gave, by the variable, by a thread, by a pointer kept elsewhere, by giving it back. Reads of them are still checked.
// flags: -O2
// report: varies
#include "../include/threads.h"

static volatile long *by_main, *by_function, *by_thread, *by_copy, *given_back;
static volatile long **copy;

static __attribute__((noinline)) void set(long value) {
    by_function[1] = value; //~ RACE by_function
}

static void *other(void *unused) {
    turn(2);
    long sum = by_main[0]; //~ RACE by_main
    sum += by_function[1]; //~ RACE by_function
    sum += by_copy[2]; //~ RACE by_copy
    sum += given_back[3]; //~ RACE given_back
    by_thread[4] = 7; //~ RACE by_thread
    next_turn();
    printf("%d\n", sum != 0);
    return unused;
}

static volatile long *block(void) {
    volatile long *block = calloc(64, sizeof *block);
    MUST(block != NULL);
    block[0] = 1;
    return block;
}

int main(void) {
    volatile long *mine = by_main = block();
    by_function = block();
    by_thread = block();
    by_copy = block();
    given_back = block();
    copy = calloc(1, sizeof *copy);
    MUST(copy != NULL);
    *copy = by_copy;
    set(1);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, NULL) == 0);
    turn(1);
    mine[0] = 2; //~ RACE by_main
    set(2);
    (*copy)[2] = 2; //~ RACE by_copy
    long seen = by_thread[4]; //~ RACE by_thread
    free((void *)given_back); //~ RACE given_back
    next_turn();
    join(thread);
    printf("%ld\n", seen);
}
