// A read-modify-write, even a relaxed one of another thread, goes on with a release sequence: who acquires its value
// synchronises with the release at the head. Several heads count all.
#include "../include/atomics.h"

int first, second, sum;
atomic_int flag;

static void head(void) {
    first = 1;
    STORE(flag, 1, RELEASE);
}

static void another_head(void) {
    AWAIT(flag, 1, RELAXED);
    second = 2;
    atomic_fetch_add_explicit(&flag, 1, RELEASE);
}

static void middle(void) {
    AWAIT(flag, 2, RELAXED);
    int two = 2;
    atomic_compare_exchange_strong_explicit(&flag, &two, 3, RELAXED, RELAXED);
}

static void tail(void) {
    AWAIT(flag, 3, ACQUIRE);
    sum = first + second;
}

int main(void) {
    pthread_t a = start(head), b = start(another_head), c = start(middle), d = start(tail);
    join(a);
    join(b);
    join(c);
    join(d);
    printf("%d\n", sum);
}
