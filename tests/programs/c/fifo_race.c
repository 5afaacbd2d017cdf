// What a thread writes after its bytes went into a named pipe is not ordered by them.
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static int before, after;

static void writer(void) {
    int file = open(path, O_WRONLY);
    before = 1;
    MUST(write(file, "x", 1) == 1);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void reader(void) {
    int file = open(path, O_RDONLY);
    char byte;
    turn(2);
    MUST(read(file, &byte, 1) == 1);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/deadheat-fifo-%d", getpid());
    MUST(mkfifo(path, 0600) == 0);
    together(writer, reader);
    MUST(unlink(path) == 0);
}
