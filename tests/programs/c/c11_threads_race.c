// Two C11 threads with a mutex each.
// orders: both
#include <threads.h>

#include "../include/threads.h"

mtx_t mutexes[2];
int counter;

static int body(void *argument) {
    long n = (long)argument;
    turn((int)n + 1);
    mtx_lock(&mutexes[n]);
    counter++; //~ RACE counter
    mtx_unlock(&mutexes[n]);
    next_turn();
    return 0;
}

int main(void) {
    thrd_t threads[2];
    for (long i = 0; i < 2; i++) {
        mtx_init(&mutexes[i], mtx_plain);
    }
    for (long i = 0; i < 2; i++) {
        MUST(thrd_create(&threads[i], body, (void *)i) == thrd_success);
    }
    thrd_join(threads[0], NULL);
    thrd_join(threads[1], NULL);
    printf("%d\n", counter);
}
