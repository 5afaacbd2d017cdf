// Double-checked locking with an atomic pointer.
#include "../include/atomics.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *_Atomic instance;
int seen[4];

static int *get(void) {
    int *found = LOAD(instance, ACQUIRE);
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = LOAD(instance, RELAXED);
        if (!found) {
            found = malloc(sizeof *found);
            *found = 42;
            STORE(instance, found, RELEASE);
        }
        pthread_mutex_unlock(&mutex);
    }
    return found;
}

static void *use(void *n) {
    seen[(long)n] = *get();
    return NULL;
}

int main(void) {
    crowd(4, use);
    printf("%d %d\n", seen[0], seen[3]);
    free(instance);
}
