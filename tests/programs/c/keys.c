// Destructors of thread-specific data run before the thread is joined, some of them twice.
#include "../include/threads.h"

pthread_key_t key, again;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int destroyed, rounds;

static void destroy(void *block) {
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)block;
    pthread_mutex_unlock(&mutex);
    free(block);
}

static void destroy_again(void *left) {
    pthread_mutex_lock(&mutex);
    rounds++;
    pthread_mutex_unlock(&mutex);
    if ((long)left > 1) {
        pthread_setspecific(again, (void *)((long)left - 1));
    }
}

static void *body(void *n) {
    int *block = malloc(sizeof *block);
    *block = 1;
    pthread_setspecific(key, block);
    pthread_setspecific(again, (void *)3);
    *(int *)pthread_getspecific(key) += (int)(long)n;
    return NULL;
}

int main(void) {
    pthread_key_create(&key, destroy);
    pthread_key_create(&again, destroy_again);
    crowd(8, body);
    printf("%d %d\n", destroyed, rounds);
    pthread_key_delete(key);
}
