// A file as a lock: each thread opens it for itself and locks it, by flock or for the open file, and gives the lock back or
// closes the file.
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 50 };

static char names[2][32];
static int flocked, locked;

static void *work(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        int file = open(names[0], O_RDWR);
        MUST(file >= 0 && flock(file, LOCK_EX) == 0);
        flocked++;
        if (i % 2) {
            MUST(flock(file, LOCK_UN) == 0);
        }
        close(file);
        file = open(names[1], O_RDWR);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        MUST(file >= 0 && fcntl(file, F_OFD_SETLKW, &lock) == 0);
        locked++;
        lock.l_type = F_UNLCK;
        if (i % 2) {
            MUST(fcntl(file, F_OFD_SETLK, &lock) == 0);
        }
        close(file);
    }
    return argument;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        sprintf(names[i], "/proc/self/fd/%d", memfd_create("lock", 0));
    }
    crowd(3, work);
    printf("%d %d\n", flocked, locked);
}
