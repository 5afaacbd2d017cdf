// Who reads a line from a pipe's stream comes after who wrote it, but not after what the writer does next.
#include "../include/threads.h"

#include <unistd.h>

static FILE *in, *out;
static int before, after;

static void writer(void) {
    before = 1;
    fputs("line\n", out);
    fflush(out);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void reader(void) {
    char line[16];
    MUST(fgets(line, sizeof line, in));
    turn(2);
    printf("%d %d\n", before, after); //~ RACE after
}

int main(void) {
    int ends[2];
    MUST(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    together(writer, reader);
}
