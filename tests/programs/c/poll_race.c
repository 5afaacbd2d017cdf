// poll says that one pipe is ready: that tells nothing of what was written to another.
#include <poll.h>
#include <unistd.h>

#include "../include/threads.h"

static int ends[2][2], first, second;

static void put(void) {
    first = 1;
    if (write(ends[0][1], "x", 1) != 1) {
        perror("write");
    }
    second = 1; //~ RACE second
    if (write(ends[1][1], "x", 1) != 1) {
        perror("write");
    }
    turn(1);
    next_turn();
}

static void get(void) {
    turn(2);
    struct pollfd file = {.fd = ends[0][0], .events = POLLIN};
    poll(&file, 1, -1);
    printf("%d ", first);
    printf("%d\n", second); //~ RACE second
    next_turn();
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        if (pipe(ends[i]) != 0) {
            perror("pipe");
        }
    }
    together(put, get);
}
