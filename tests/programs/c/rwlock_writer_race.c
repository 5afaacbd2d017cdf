// Who holds a lock for reading is not ordered with others who do, and writes all the same.
// orders: both
#include "../include/threads.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int data;

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    pthread_rwlock_rdlock(&lock);
    data++; //~ RACE data
    pthread_rwlock_unlock(&lock);
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    pthread_rwlock_wrlock(&lock);
    printf("%d\n", data);
    pthread_rwlock_unlock(&lock);
}
