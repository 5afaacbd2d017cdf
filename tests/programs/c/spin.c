// pthread's spin locks.
#include "../include/threads.h"

pthread_spinlock_t lock;
int counter;

static void *count(void *n) {
    for (int i = 0; i < 100; i++) {
        if ((long)n == 0) {
            pthread_spin_lock(&lock);
        } else {
            while (pthread_spin_trylock(&lock) != 0) {
                sched_yield();
            }
        }
        counter++;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    crowd(2, count);
    pthread_spin_destroy(&lock);
    printf("%d\n", counter);
}
