// The report shows the locks held at each access: mutexes and a read lock, which does not order readers.
// orders: both
#include "../include/threads.h"

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
int data;

static void one(void) {
    turn(1);
    pthread_mutex_lock(&first);
    pthread_rwlock_rdlock(&shared);
    data = 1; //~ RACE data
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&first);
    next_turn();
}

static void two(void) {
    turn(2);
    pthread_rwlock_rdlock(&shared);
    pthread_mutex_lock(&second);
    data = 2; //~ RACE data
    pthread_mutex_unlock(&second);
    pthread_rwlock_unlock(&shared);
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d\n", data);
}
