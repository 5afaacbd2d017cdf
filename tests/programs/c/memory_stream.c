// Streams that are memory: each thread prints into its own, and the texts are handed on under a lock.
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *text;
static size_t size, total;

static void *work(void *argument) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        free(text);
        FILE *stream = open_memstream(&text, &size);
        fprintf(stream, "%ld %d\n", (long)argument, i % 10);
        fflush(stream);
        MUST(size == 4);
        fputs("more", stream);
        fclose(stream);
        total += strlen(text) + size;
        pthread_mutex_unlock(&mutex);
        char own[32] = "1 2 three", word[8];
        int one, two;
        stream = fmemopen(own, sizeof own, "r+");
        MUST(fscanf(stream, "%d %d %7s", &one, &two, word) == 3 && strcmp(word, "three") == 0);
        rewind(stream);
        fputs("new", stream);
        fclose(stream);
        MUST(strncmp(own, "new", 3) == 0);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    free(text);
    printf("%zu\n", total);
}
