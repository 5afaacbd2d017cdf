// Two readers are not ordered: writing under a read lock races.
// orders: both
#include "../include/threads.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int hits;

static void *body(void *n) {
    turn((int)(long)n + 1);
    pthread_rwlock_rdlock(&lock);
    hits++; //~ RACE hits
    pthread_rwlock_unlock(&lock);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", hits);
}
