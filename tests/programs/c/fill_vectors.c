// Threads read and write their own parts of a file, from and into their own parts of buffers.
#include "../include/threads.h"

#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 4, PART = 16 };

static char all[THREADS * PART], back[THREADS * PART];
static int file;

static void *work(void *argument) {
    long n = (long)argument;
    for (int i = 0; i < 100; i++) {
        char *from = all + n * PART, *to = back + n * PART;
        memset(from, 'a' + (int)n, PART);
        struct iovec out[2] = {{from, 3}, {from + 3, PART - 3}}, in[2] = {{to, 5}, {to + 5, PART - 5}};
        MUST(pwritev(file, out, 2, n * PART) == PART && preadv(file, in, 2, n * PART) == PART);
        MUST(pwrite(file, from, PART, n * PART) == PART && pread(file, to, PART, n * PART) == PART);
    }
    return argument;
}

int main(void) {
    file = fileno(tmpfile());
    crowd(THREADS, work);
    printf("%.*s\n", THREADS * PART, back);
}
