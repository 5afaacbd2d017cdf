// Memory that a file stands for races like any other.
// orders: both
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int *shared;

static void one(void) {
    turn(1);
    shared[3] = 1; //~ RACE shared
    next_turn();
}

static void two(void) {
    turn(2);
    shared[3]++; //~ RACE shared
    next_turn();
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%d", getpid());
    int file = shm_open(name, O_CREAT | O_RDWR | O_EXCL, 0600);
    MUST(file >= 0 && shm_unlink(name) == 0 && ftruncate(file, 4096) == 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(shared != MAP_FAILED);
    together(one, two);
}
