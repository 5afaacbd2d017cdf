// A sequence lock as C11 wants it: the data are relaxed atomics, fences order them.
#include "../include/atomics.h"

atomic_uint sequence;
atomic_int left, right;
int torn;

static void writer(void) {
    for (int i = 1; i <= 1000; i++) {
        unsigned now = LOAD(sequence, RELAXED);
        STORE(sequence, now + 1, RELAXED);
        atomic_thread_fence(RELEASE);
        STORE(left, i, RELAXED);
        STORE(right, i, RELAXED);
        STORE(sequence, now + 2, RELEASE);
    }
}

static void reader(void) {
    int l = 0;
    while (l < 1000) {
        unsigned before = LOAD(sequence, ACQUIRE);
        l = LOAD(left, RELAXED);
        int r = LOAD(right, RELAXED);
        atomic_thread_fence(ACQUIRE);
        unsigned after = LOAD(sequence, RELAXED);
        if (before == after && before % 2 == 0) {
            torn += l != r;
        } else {
            l = 0;
        }
        sched_yield();
    }
}

int main(void) {
    together(writer, reader);
    printf("%d\n", torn);
}
