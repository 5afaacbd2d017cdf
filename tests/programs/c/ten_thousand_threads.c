// Ten thousand threads, one after the other, each ordered before the next by its join.
#include "../include/threads.h"

int counter;

static void *body(void *n) {
    counter += 1;
    return NULL;
}

int main(void) {
    for (int i = 0; i < 10000; i++) {
        crowd(1, body);
    }
    printf("%d\n", counter);
}
