// A byte is written without the lock by the first of 100 threads. The others write the rest of its word, with the lock,
// over and over, and much else. At last one reads the first byte.
#include "../include/threads.h"

enum { THREADS = 100 };

_Alignas(8) char word[8];
long noise[1 << 14];
char seen;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *body(void *argument) {
    long n = (long)argument;
    if (n == 0) {
        // Without the lock, also afterwards: to give it back would order the write before all that follows.
        word[0] = 1; //~ RACE byte
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
        seen = word[0]; //~ RACE byte
    }
    pthread_mutex_unlock(&mutex);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(THREADS, body);
    printf("%d %d %ld\n", seen, word[1], noise[1]);
}
