// Several buffers at once are read and filled, and so is the list of them.
#include "../include/touch.h"

#include <sys/uio.h>
#include <unistd.h>

static char a[8], b[8], c[8], d[8];
static struct iovec list[2] = {{a, 4}, {a + 4, 4}};

static void use(void) {
    turn(1);
    TOUCH(a, 7); //~ RACE writev
    list[1].iov_len = 4; //~ RACE list
    TOUCH(b, 5); //~ RACE readv
    // There were only six bytes.
    TOUCH(b, 6);
    TOUCH(c, 0); //~ RACE pwritev
    TOUCH(d, 3); //~ RACE preadv
    next_turn();
}

static void functions(void) {
    turn(2);
    int file = fileno(tmpfile());
    MUST(writev(file, list, 2) == 8); //~ RACE writev list
    struct iovec two[2] = {{b, 4}, {b + 4, 4}}, three[1] = {{c, 8}}, four[2] = {{d, 2}, {d + 2, 6}};
    MUST(pwritev(file, three, 1, 0) == 8); //~ RACE pwritev
    MUST(preadv(file, four, 2, 0) == 8); //~ RACE preadv
    MUST(lseek(file, 2, SEEK_SET) == 2 && readv(file, two, 2) == 6); //~ RACE readv
    next_turn();
}

int main(void) {
    together(use, functions);
}
