// Double-checked locking with a plain pointer: the first check races, and so does what it found.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *instance;
int seen[2];

static int *get(void) {
    int *found = instance; //~ RACE pointer
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = instance;
        if (!found) {
            found = malloc(sizeof *found);
            *found = 42; //~ RACE object
            instance = found; //~ RACE pointer
        }
        pthread_mutex_unlock(&mutex);
    }
    return found;
}

static void *use(void *n) {
    turn((int)(long)n + 1);
    seen[(long)n] = *get(); //~ RACE object
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, use);
    printf("%d %d\n", seen[0], seen[1]);
    free(instance);
}
