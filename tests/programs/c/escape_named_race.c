// What other modules could name, and do not: a variable that `main` writes again when there is a second thread, and a function
// that is given a local by one caller, and shared memory by another. All of it is still checked.
// flags: -O2
// report: varies
#include "../include/threads.h"

struct pair {
    long first, second;
};

volatile long level;
volatile long table[4];
struct pair shared;

__attribute__((noinline)) void fill(long value) {
    table[value & 3] = value; //~ RACE table
}

__attribute__((noinline)) void add(struct pair *to, long value) {
    to->first += value; //~ RACE shared
}

__attribute__((noinline)) void hand_on(struct pair *to, long value) {
    add(to, value);
}

void *other(void *unused) {
    struct pair mine = {1, 2};
    turn(2);
    hand_on(&mine, level); //~ RACE level
    hand_on(&shared, mine.first);
    long sum = table[1]; //~ RACE table
    next_turn();
    printf("%d\n", sum + mine.first > 0);
    return unused;
}

int main(int count, char **words) {
    (void)words;
    level = count;
    fill(1);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, NULL) == 0);
    struct pair mine = {3, 4};
    turn(1);
    level = 2; //~ RACE level
    fill(5);
    add(&mine, 1);
    add(&shared, mine.first);
    next_turn();
    join(thread);
    printf("%d\n", mine.first > 0);
}
