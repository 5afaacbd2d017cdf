// Double-checked locking with a plain pointer: the first check races, and so does what it found.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *instance;
int seen[2];

static int *get(void) {
    if (!instance) { //~ RACE pointer
        pthread_mutex_lock(&mutex);
        if (!instance) {
            int *made = malloc(sizeof *made);
            *made = 42; //~ RACE object
            instance = made; //~ RACE pointer return
        }
        pthread_mutex_unlock(&mutex);
    }
    return instance; //~ RACE return
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
