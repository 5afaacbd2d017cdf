// A named pipe that each thread opens for itself.
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static char path[64];
static int slots[ROUNDS];

static void writer(void) {
    int file = open(path, O_WRONLY);
    for (int i = 0; i < ROUNDS; i++) {
        slots[i] = i;
        MUST(write(file, &i, sizeof i) == sizeof i);
    }
    close(file);
}

static void reader(void) {
    int file = open(path, O_RDONLY), n, sum = 0;
    while (read(file, &n, sizeof n) == sizeof n) {
        sum += slots[n];
    }
    printf("%d\n", sum);
    close(file);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/deadheat-fifo-%d", getpid());
    MUST(mkfifo(path, 0600) == 0);
    together(writer, reader);
    MUST(unlink(path) == 0);
}
