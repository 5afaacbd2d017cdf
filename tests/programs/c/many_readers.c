// All readers and the writer take the lock.
#include "../include/threads.h"

enum { READERS = 10 };

int word = 7;
int seen[READERS];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *n) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        seen[(long)n] = word != 0;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void writer(void) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        word++;
        pthread_mutex_unlock(&mutex);
    }
}

int main(void) {
    pthread_t last = start(writer);
    crowd(READERS, reader);
    join(last);
    printf("%d %d\n", seen[0], word);
}
