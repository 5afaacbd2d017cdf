// Atomics of 1, 2, 4, 8 and 16 bytes, and one that the library guards with a lock.
// flags: -O1 -mcx16 -latomic -Wno-atomic-alignment
#include "../include/atomics.h"

struct big { long words[5]; };

_Atomic char one;
_Atomic short two;
_Atomic int four;
_Atomic long eight;
_Atomic __int128 sixteen;
_Atomic struct big forty;
int data[6];
int sum;

static void writer(void) {
    data[0] = 1;
    STORE(one, 1, RELEASE);
    data[1] = 1;
    STORE(two, 1, RELEASE);
    data[2] = 1;
    STORE(four, 1, RELEASE);
    data[3] = 1;
    STORE(eight, 1, RELEASE);
    data[4] = 1;
    STORE(sixteen, 1, RELEASE);
    data[5] = 1;
    STORE(forty, ((struct big){{1, 2, 3, 4, 5}}), RELEASE);
}

static void reader(void) {
    while (LOAD(forty, ACQUIRE).words[4] != 5) sched_yield();
    sum += data[5];
    AWAIT(sixteen, 1, ACQUIRE);
    sum += data[4];
    AWAIT(eight, 1, ACQUIRE);
    sum += data[3];
    AWAIT(four, 1, ACQUIRE);
    sum += data[2];
    AWAIT(two, 1, ACQUIRE);
    sum += data[1];
    AWAIT(one, 1, ACQUIRE);
    sum += data[0];
}

int main(void) {
    together(writer, reader);
    printf("%d\n", sum);
}
