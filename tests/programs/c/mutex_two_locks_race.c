// Each thread takes a lock, but not the same one; and one takes none for a read.
// orders: both
#include "../include/threads.h"

pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
int account, balance, seen;

static void one(void) {
    turn(1);
    pthread_mutex_lock(&left);
    account += 1; //~ RACE account
    balance = 1; //~ RACE balance
    pthread_mutex_unlock(&left);
    next_turn();
}

static void two(void) {
    turn(2);
    pthread_mutex_lock(&right);
    account += 2; //~ RACE account
    pthread_mutex_unlock(&right);
    seen = balance; //~ RACE balance
    next_turn();
}

int main(void) {
    together(one, two);
    printf("%d %d\n", account, seen);
}
