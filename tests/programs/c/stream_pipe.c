// Streams on the two ends of a pipe: who reads a line comes after who wrote it.
#include "../include/threads.h"

#include <unistd.h>

enum { ROUNDS = 100 };

static FILE *in, *out;
static int slots[ROUNDS];

static void writer(void) {
    for (int i = 0; i < ROUNDS; i++) {
        slots[i] = i;
        fprintf(out, "%d\n", i);
        fflush(out);
    }
    fclose(out);
}

static void reader(void) {
    char line[16];
    int sum = 0;
    while (fgets(line, sizeof line, in)) {
        sum += slots[atoi(line)];
    }
    printf("%d\n", sum);
    fclose(in);
}

int main(void) {
    int ends[2];
    MUST(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    together(writer, reader);
}
