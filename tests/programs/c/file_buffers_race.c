// Buffers of read, write, pread, pwrite, fread and fwrite that another thread uses at the same time.
#include <stdlib.h>
#include <unistd.h>

#include "../include/threads.h"

static char a[8], b[8], c[8], d[8], e[8], f[8];
static int file;
static FILE *stream;

static void use(void) {
    turn(1);
    a[7] = 'a'; //~ RACE write
    b[0] = 'b'; //~ RACE pwrite
    c[4] = 'c'; //~ RACE fwrite
    d[7] = 'd'; //~ RACE read
    e[0] = 'e'; //~ RACE pread
    f[4] = 'f'; //~ RACE fread
    next_turn();
}

static void transfer(void) {
    turn(2);
    long done = write(file, a, 8); //~ RACE write
    done += pwrite(file, b, 8, 0); //~ RACE pwrite
    done += (long)fwrite(c, 4, 2, stream); //~ RACE fwrite
    rewind(stream);
    lseek(file, 0, SEEK_SET);
    done += read(file, d, 8); //~ RACE read
    done += pread(file, e, 8, 0); //~ RACE pread
    done += (long)fread(f, 4, 2, stream); //~ RACE fread
    printf("%ld\n", done);
    next_turn();
}

int main(void) {
    file = fileno(tmpfile());
    stream = tmpfile();
    MUST(file >= 0 && stream);
    together(use, transfer);
}
