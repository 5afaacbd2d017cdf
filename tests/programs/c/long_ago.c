// A byte is written by the first of 100 threads, with the lock like everything else, and read by the last.
#include "../include/threads.h"

enum { THREADS = 100 };

_Alignas(8) char word[8];
long noise[1 << 14];
char seen;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *body(void *argument) {
    long n = (long)argument;
    if (n == 0) {
        pthread_mutex_lock(&mutex);
        word[0] = 1;
        pthread_mutex_unlock(&mutex);
        next_turn();
        return NULL;
    }
    invisible_wait((int)n);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 1 << 14; i++) {
        word[1 + i % 7]++;
        noise[i] += n;
    }
    if (n == THREADS - 1) {
        seen = word[0];
    }
    pthread_mutex_unlock(&mutex);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(THREADS, body);
    printf("%d %d %ld\n", seen, word[1], noise[1]);
}
