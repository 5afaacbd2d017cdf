// A sequence lock with plain data: what the reader throws away was a race all the same.
#include "../include/atomics.h"

atomic_uint sequence;
int left;
int kept = -1;

static void writer(void) {
    STORE(sequence, 1, RELAXED);
    atomic_thread_fence(RELEASE);
    left = 1; //~ RACE left
    next_turn();
    turn(3);
    STORE(sequence, 2, RELEASE);
}

static void reader(void) {
    turn(2);
    unsigned before = LOAD(sequence, ACQUIRE);
    int l = left; //~ RACE left
    atomic_thread_fence(ACQUIRE);
    if (before % 2 == 0 && before == LOAD(sequence, RELAXED)) {
        kept = l;
    }
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%d\n", kept);
}
