// Whoever is told by poll, ppoll, select or pselect that a file is ready comes after the write that made it so.
#define _GNU_SOURCE
#include <poll.h>
#include <sys/select.h>
#include <unistd.h>

#include "../include/threads.h"

static int ends[4][2], data[4];

static void put(void) {
    for (int i = 0; i < 4; i++) {
        data[i] = i + 1;
        if (write(ends[i][1], "x", 1) != 1) {
            perror("write");
        }
    }
}

static void get(void) {
    struct pollfd file = {.fd = ends[0][0], .events = POLLIN};
    poll(&file, 1, -1);
    printf("%d ", data[0]);
    file.fd = ends[1][0];
    ppoll(&file, 1, NULL, NULL);
    printf("%d ", data[1]);
    fd_set files;
    FD_ZERO(&files);
    FD_SET(ends[2][0], &files);
    select(ends[2][0] + 1, &files, NULL, NULL, NULL);
    printf("%d ", data[2]);
    FD_ZERO(&files);
    FD_SET(ends[3][0], &files);
    pselect(ends[3][0] + 1, &files, NULL, NULL, NULL, NULL);
    printf("%d\n", data[3]);
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        if (pipe(ends[i]) != 0) {
            perror("pipe");
        }
    }
    together(put, get);
}
