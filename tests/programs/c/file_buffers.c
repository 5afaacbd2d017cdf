// Buffers of read, write, pread, pwrite, fread and fwrite that one thread fills and another uses, one after the other.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/threads.h"

static char buffer[16];
static int file;
static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void put(void) {
    pthread_mutex_lock(&mutex);
    strcpy(buffer, "0123456789abcde");
    long put = write(file, buffer, 16);
    put += pwrite(file, buffer, 8, 16);
    put += (long)fwrite(buffer, 4, 4, stream);
    (void)put;
    pthread_mutex_unlock(&mutex);
}

static void get(void) {
    pthread_mutex_lock(&mutex);
    long got = pread(file, buffer, 8, 0);
    got += read(file, buffer, 8);
    rewind(stream);
    got += (long)fread(buffer, 4, 2, stream);
    pthread_mutex_unlock(&mutex);
    (void)got;
}

int main(void) {
    file = fileno(tmpfile());
    stream = tmpfile();
    MUST(file >= 0 && stream);
    together(put, get);
    puts("done");
}
