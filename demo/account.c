// A bank account: deposit() takes the lock, audit() forgets it.
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

static void *audit(void *unused) {
    printf("balance: %ld\n", balance);
    return unused;
}

int main(void) {
    long ten = 10;
    pthread_t teller, auditor;
    pthread_create(&teller, NULL, deposit, &ten);
    pthread_create(&auditor, NULL, audit, NULL);
    pthread_join(teller, NULL);
    pthread_join(auditor, NULL);
    return 0;
}
