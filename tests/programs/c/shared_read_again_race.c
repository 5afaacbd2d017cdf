// Two threads read the same words, the first one does so again, and again after it has released a lock that the second one takes:
// only that last read is not ordered before the write. What it found on record before must not stand for it.
#include "../include/threads.h"

long wide = 7;
int narrow = 7;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) long look(void) {
    return wide; //~ RACE wide
}

static __attribute__((noinline)) int glance(void) {
    return narrow; //~ RACE narrow
}

static void synchronise(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void reader(void) {
    turn(1);
    long sum = look() + glance();
    next_turn();
    turn(3);
    for (int i = 0; i < 3; i++) {
        sum += look() + glance();
    }
    synchronise();
    next_turn();
    turn(5);
    sum += look() + glance();
    MUST(sum == 70);
    next_turn();
}

static void writer(void) {
    turn(2);
    long sum = look() + glance();
    MUST(sum == 14);
    next_turn();
    turn(4);
    synchronise();
    next_turn();
    turn(6);
    wide = 8; //~ RACE wide
    narrow = 8; //~ RACE narrow
    next_turn();
}

int main(void) {
    together(reader, writer);
    printf("%ld %d\n", wide, narrow);
}
