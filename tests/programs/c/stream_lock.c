// The lock of a stream orders like any other.
#include "../include/threads.h"

int data;

static void body(void) {
    for (int i = 0; i < 100; i++) {
        flockfile(stdout);
        data++;
        funlockfile(stdout);
        while (ftrylockfile(stdout) != 0) {
        }
        data++;
        funlockfile(stdout);
    }
}

int main(void) {
    together(body, body);
    printf("%d\n", data);
}
