// A spin lock that only one thread takes, and one that was not got.
#include "../include/threads.h"

pthread_spinlock_t lock;
int alone, tried;

static void careful(void) {
    pthread_spin_lock(&lock);
    alone = 1; //~ RACE alone
    tried = 1; //~ RACE tried
    next_turn();
    turn(3);
    pthread_spin_unlock(&lock);
}

static void careless(void) {
    turn(2);
    alone = 2; //~ RACE alone
    MUST(pthread_spin_trylock(&lock) == EBUSY);
    tried = 2; //~ RACE tried
    next_turn();
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    together(careful, careless);
    printf("%d %d\n", alone, tried);
}
