// Unaligned fields side by side: the threads share words but no bytes.
#include "../include/threads.h"

struct __attribute__((packed, aligned(8))) record {
    char head;
    int four;
    long eight;
    short two;
    char tail;
};

struct record record;

static void inner(void) {
    for (int i = 0; i < 100; i++) {
        record.four++;
        record.two++;
    }
}

static void outer(void) {
    for (int i = 0; i < 100; i++) {
        record.head++;
        record.eight++;
        record.tail++;
    }
}

int main(void) {
    together(inner, outer);
    printf("%d %d %ld %d %d\n", record.head, record.four, record.eight, record.two, record.tail);
}
