// A loop that never ends: its accesses are seen all the same, before the program ends.
// flags: -O2
// report: varies
// (How often it is seen depends on when the program ends.)
#include "../include/threads.h"

enum { SIZE = 64 };

volatile long numbers[SIZE];
volatile long stop;

static void *forever(void *unused) {
    for (long i = 0; !stop; i = (i + 1) % SIZE) {
        numbers[i] = i; //~ RACE numbers
        if (i == SIZE - 1) {
            invisible_post();
        }
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, forever, NULL) == 0);
    invisible_wait(1);
    numbers[SIZE / 2] = 1; //~ RACE numbers
    puts("done");
    return 0;
}
