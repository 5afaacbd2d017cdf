// Lines of one stream, read by many threads into memory of their own and into one buffer under a lock.
#include "../include/threads.h"

enum { LINES = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;
static char *line;
static size_t room;
static long sum, count;

static void *work(void *argument) {
    long mine = 0, lines = 0;
    char own[32];
    for (int i = 0; i < LINES / 3; i++) {
        int number;
        char word[8];
        if (i % 2) {
            pthread_mutex_lock(&mutex);
            MUST(getline(&line, &room, stream) > 0 && sscanf(line, "%d %7s", &number, word) == 2);
            pthread_mutex_unlock(&mutex);
        } else {
            // stdio has its own lock.
            MUST(fgets(own, sizeof own, stream) && sscanf(own, "%d %7s", &number, word) == 2);
        }
        MUST(strcmp(word, "line") == 0);
        mine += number;
        lines++;
    }
    pthread_mutex_lock(&mutex);
    sum += mine;
    count += lines;
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    stream = tmpfile();
    for (int i = 1; i <= LINES; i++) {
        fprintf(stream, "%d line\n", i);
    }
    rewind(stream);
    crowd(3, work);
    free(line);
    printf("%ld %ld\n", count, sum);
}
