// Two tellers share an account. The balance is guarded by a mutex; the number of deposits, kept "just for
// statistics", is not.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    unsigned deposits;
};

static void deposit(struct account *account, long amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount;
    pthread_mutex_unlock(&account->lock);
    account->deposits++;
}

static void *teller(void *shared) {
    for (int i = 0; i < 100; i++)
        deposit(shared, 1);
    return NULL;
}

int main(void) {
    struct account *account = calloc(1, sizeof *account);
    pthread_t tellers[2];
    pthread_mutex_init(&account->lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, account);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    printf("balance %ld\n", account->balance);
    pthread_mutex_destroy(&account->lock);
    free(account);
    return 0;
}
