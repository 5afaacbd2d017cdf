// A child works on its parent's variables and is joined before they are gone.
#include "../include/threads.h"

struct work { int from, to; long sum; };

static void *sum(void *argument) {
    struct work *work = argument;
    for (int i = work->from; i < work->to; i++) {
        work->sum += i;
    }
    return NULL;
}

__attribute__((noinline)) static long in_parallel(int count) {
    struct work halves[2] = {{0, count / 2, 0}, {count / 2, count, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        MUST(pthread_create(&threads[i], NULL, sum, &halves[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        join(threads[i]);
    }
    return halves[0].sum + halves[1].sum;
}

int main(void) {
    long total = 0;
    // The frames lie at the same place each time.
    for (int i = 0; i < 20; i++) {
        total += in_parallel(100 * i);
    }
    printf("%ld\n", total);
}
