// A bank account: deposit() takes the lock, withdraw() forgets it.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static void *deposit(void *amount) {
    pthread_mutex_lock(&lock);
    balance += *(long *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *withdraw(void *amount) {
    balance -= *(long *)amount;
    return NULL;
}

int main(void) {
    long ten = 10, five = 5;
    pthread_t depositor, withdrawer;
    pthread_create(&depositor, NULL, deposit, &ten);
    pthread_create(&withdrawer, NULL, withdraw, &five);
    pthread_join(depositor, NULL);
    pthread_join(withdrawer, NULL);
    printf("%ld\n", balance);
    return 0;
}
