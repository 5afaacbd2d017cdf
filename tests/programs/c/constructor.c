// Constructors and indirect functions run before main, and may start threads.
#include "../include/threads.h"

int data;
pthread_t early;

static void body(void) {
    data++;
}

__attribute__((constructor(101))) static void first(void) {
    data = 40;
    early = start(body);
}

__attribute__((constructor(102))) static void second(void) {
    join(early);
    data++;
}

int main(void) {
    printf("%d\n", data);
}
