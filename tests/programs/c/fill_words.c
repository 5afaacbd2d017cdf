// Threads take words and numbers from lines, each from its own part of one text.
#include "../include/threads.h"

enum { THREADS = 4, PART = 64 };

static char text[THREADS * PART];
static long sums[THREADS];

static void *work(void *argument) {
    long n = (long)argument;
    char *part = text + n * PART;
    for (int i = 0; i < 100; i++) {
        snprintf(part, PART, "%ld,%d;%ld %d", n, 1, n, 2);
        char *save, *end;
        for (char *word = strtok_r(part, ",; ", &save); word; word = strtok_r(NULL, ",; ", &save)) {
            sums[n] += strtol(word, &end, 10);
            MUST(*end == 0 && atoi(word) >= 0);
        }
        strcpy(part, "a:b::c");
        char *rest = part;
        for (char *field; (field = strsep(&rest, ":"));) {
            sums[n] += (long)strlen(field);
        }
    }
    return argument;
}

int main(void) {
    crowd(THREADS, work);
    printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
}
