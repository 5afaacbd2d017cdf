// Numbers through an eventfd, by read and write and by its own functions; also one that counts like a semaphore.
#include "../include/threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static int full, empty, tokens, slot, slots[ROUNDS];

static void producer(void) {
    for (int i = 0; i < ROUNDS; i++) {
        eventfd_t value;
        MUST(eventfd_read(empty, &value) == 0);
        slot = i;
        MUST(eventfd_write(full, 1) == 0);
        slots[i] = i;
        uint64_t one = 1;
        MUST(write(tokens, &one, sizeof one) == sizeof one);
    }
}

static void consumer(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t value;
        MUST(read(full, &value, sizeof value) == sizeof value);
        sum += slot;
        MUST(eventfd_write(empty, 1) == 0);
        MUST(eventfd_read(tokens, &value) == 0 && value == 1);
        sum += slots[i];
    }
    printf("%ld\n", sum);
}

int main(void) {
    full = eventfd(0, 0);
    empty = eventfd(1, 0);
    tokens = eventfd(0, EFD_SEMAPHORE);
    together(producer, consumer);
}
