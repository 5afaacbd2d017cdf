// The bytes were sent too early.
#include "../include/threads.h"

#include <unistd.h>

int descriptors[2];
int late;

static void writer(void) {
    MUST(write(descriptors[1], "x", 1) == 1);
    late = 1; //~ RACE late
    next_turn();
}

static void reader(void) {
    char byte;
    MUST(read(descriptors[0], &byte, 1) == 1);
    turn(2);
    printf("%d\n", late); //~ RACE late
}

int main(void) {
    MUST(pipe(descriptors) == 0);
    together(writer, reader);
}
