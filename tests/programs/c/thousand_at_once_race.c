// A thousand threads at once; the first to start and the last to start race.
#include "../include/threads.h"

enum { THREADS = 1000 };

pthread_barrier_t barrier;
int data;

static void *body(void *argument) {
    long n = (long)argument;
    pthread_barrier_wait(&barrier);
    if (n == 0) {
        turn(1);
        data = 1; //~ RACE data
        next_turn();
    } else if (n == THREADS - 1) {
        turn(2);
        data = 2; //~ RACE data
        next_turn();
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    crowd(THREADS, body);
    printf("%d\n", data);
}
