// One stream for all threads: stdio has its own lock, and puts lines together.
#include "../include/threads.h"

static FILE *stream;

static void *work(void *argument) {
    for (int i = 0; i < 200; i++) {
        fprintf(stream, "%ld %d\n", (long)argument, i);
        fputs("x\n", stream);
        putc('\n', stream);
    }
    return argument;
}

int main(void) {
    stream = tmpfile();
    crowd(4, work);
    rewind(stream);
    int lines = 0;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stream) > 0) {
        lines++;
    }
    free(line);
    fclose(stream);
    printf("%d\n", lines);
}
