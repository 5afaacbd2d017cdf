// One thread reads without the lock, ten read with it, then one writes with it: only the first races. A detector that
// keeps a few readers for each word may have forgotten it.
#include "../include/threads.h"

enum { READERS = 10 };

int word = 7;
int seen[READERS + 1];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void careless(void) {
    seen[READERS] = word; //~ RACE word
    next_turn();
}

static void *careful(void *n) {
    invisible_wait((int)(long)n + 1);
    pthread_mutex_lock(&mutex);
    seen[(long)n] = word;
    pthread_mutex_unlock(&mutex);
    next_turn();
    return NULL;
}

static void writer(void) {
    invisible_wait(READERS + 1);
    pthread_mutex_lock(&mutex);
    word = 8; //~ RACE word
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    pthread_t first = start(careless), last = start(writer);
    crowd(READERS, careful);
    join(first);
    join(last);
    printf("%d %d\n", seen[READERS], word);
}
