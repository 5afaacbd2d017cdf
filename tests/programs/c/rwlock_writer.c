// A writer comes after all readers before it, and before all after it.
#include "../include/threads.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int slots[4], sum;

static void *reader(void *argument) {
    long n = (long)argument;
    pthread_rwlock_rdlock(&lock);
    // Its own slot: no other reader looks at it.
    slots[n] = (int)n;
    pthread_rwlock_unlock(&lock);
    next_turn();
    return NULL;
}

static void writer(void) {
    invisible_wait(4);
    pthread_rwlock_wrlock(&lock);
    for (int i = 0; i < 4; i++) {
        sum += slots[i];
    }
    pthread_rwlock_unlock(&lock);
}

int main(void) {
    pthread_t last = start(writer);
    crowd(4, reader);
    join(last);
    printf("%d\n", sum);
}
