// Both write after the barrier; a barrier orders what came before it with what came after, and no more.
// orders: both
#include "../include/threads.h"

pthread_barrier_t barrier;
int before, after;

static void *body(void *argument) {
    int n = (int)(long)argument;
    if (n == 0) {
        before = 1;
    }
    pthread_barrier_wait(&barrier);
    turn(n + 1);
    after += before; //~ RACE after
    next_turn();
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    crowd(2, body);
    printf("%d\n", after);
}
