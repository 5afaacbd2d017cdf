// A thread that joins itself, or one that is detached, gets an error and goes on.
#include "../include/threads.h"

static void body(void) {
    printf("%d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
    pthread_detach(pthread_self());
    printf("%d\n", pthread_detach(pthread_self()) == EINVAL);
    fflush(stdout);
    next_turn();
}

int main(void) {
    printf("%d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
    fflush(stdout);
    start(body);
    turn(2);
}
