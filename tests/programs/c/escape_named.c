// Functions and variables that other modules could name, and do not: locals that they are given, and what is written only
// before there is a second thread.
// flags: -O2
#include "../include/threads.h"

struct pair {
    long first, second;
};

volatile long level;
long table[64];

__attribute__((noinline)) void fill(long by) {
    for (long i = 0; i < 64; i++)
        table[i] = i * by;
}

__attribute__((noinline)) void options(int count) {
    fill(count);
    if (count > 5)
        level = 7;
}

__attribute__((noinline)) void add(struct pair *to, long value) {
    to->first += value;
    to->second ^= to->first;
}

__attribute__((noinline)) long work(struct pair *mine) {
    long sum = 0;
    for (long i = 0; i < 100; i++) {
        add(mine, i + level);
        sum += table[mine->first & 63];
    }
    return sum;
}

void *other(void *unused) {
    struct pair mine = {1, 2};
    MUST(work(&mine) > 0);
    return unused;
}

int main(int count, char **words) {
    (void)words;
    level = count;
    options(count);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, NULL) == 0);
    struct pair mine = {3, 4};
    MUST(work(&mine) > 0);
    join(thread);
}
