// A stream that is memory tells its size when it is flushed, where another thread looks.
#include "../include/threads.h"

static char *text;
static size_t size;
static FILE *stream;

static void one(void) {
    turn(1);
    fputs("some text", stream);
    fflush(stream); //~ RACE size
    next_turn();
}

static void two(void) {
    turn(2);
    printf("%zu\n", size); //~ RACE size
}

int main(void) {
    stream = open_memstream(&text, &size);
    together(one, two);
    fclose(stream);
    free(text);
}
