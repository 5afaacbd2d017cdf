// A pointer is published through a place that only the library looks at; what it points to was written before.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

enum { ROUNDS = 200 };

struct list {
    struct list *next;
    int number;
};

static struct opaque_slot *slots[ROUNDS];

static void writer(void) {
    for (int i = 0; i < ROUNDS; i++) {
        struct list *list = NULL;
        for (int n = 0; n < 5; n++) {
            struct list *more = malloc(sizeof *more);
            more->next = list;
            more->number = i * n;
            list = more;
        }
        opaque_put(slots[i], list);
    }
}

static void reader(void) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct list *list = opaque_get(slots[i]);
        while (list) {
            struct list *next = list->next;
            sum += list->number;
            free(list);
            list = next;
        }
    }
    printf("%ld\n", sum);
}

int main(void) {
    for (int i = 0; i < ROUNDS; i++) {
        slots[i] = opaque_slot_new();
    }
    together(reader, writer);
    for (int i = 0; i < ROUNDS; i++) {
        opaque_slot_free(slots[i]);
    }
}
