// A lock of fcntl that belongs to the process keeps no thread out; and a file that is locked by one thread keeps no thread
// out that does not lock it.
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static char name[32];
static int process, one_sided;

static void whole_process(int file) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    MUST(fcntl(file, F_SETLKW, &lock) == 0);
}

static void one(void) {
    int file = open(name, O_RDWR);
    turn(1);
    whole_process(file);
    process++; //~ RACE process
    MUST(flock(file, LOCK_EX) == 0);
    one_sided++; //~ RACE one_sided
    MUST(flock(file, LOCK_UN) == 0);
    next_turn();
}

static void two(void) {
    int file = open(name, O_RDWR);
    turn(2);
    whole_process(file);
    process++; //~ RACE process
    one_sided++; //~ RACE one_sided
}

int main(void) {
    sprintf(name, "/proc/self/fd/%d", memfd_create("lock", 0));
    together(one, two);
    printf("%d %d\n", process, one_sided);
}
