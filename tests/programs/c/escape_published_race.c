// Variables that are written before there is a second thread, and again afterwards: by `main`, by a function that it called
// before, by a thread. Reads of them are still checked.
// flags: -O2
// report: varies
#include "../include/threads.h"

static volatile long by_main, by_function, by_thread, in_part[4];

static __attribute__((noinline)) void set(long value) {
    by_function = value; //~ RACE by_function
}

static void *other(void *unused) {
    turn(2);
    long sum = by_main; //~ RACE by_main
    sum += by_function; //~ RACE by_function
    sum += in_part[2]; //~ RACE in_part
    by_thread = 7; //~ RACE by_thread
    next_turn();
    printf("%ld\n", sum);
    return unused;
}

int main(int count, char **words) {
    (void)words;
    by_main = 1;
    set(1);
    by_thread = 1;
    in_part[count] = 1;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, NULL) == 0);
    turn(1);
    by_main = 2; //~ RACE by_main
    set(2);
    in_part[count + 1] = 2; //~ RACE in_part
    long seen = by_thread; //~ RACE by_thread
    next_turn();
    join(thread);
    printf("%ld\n", seen);
}
