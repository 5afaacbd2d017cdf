// Wrong uses of a mutex that the library answers with an error.
#include "../include/threads.h"

pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void other(void) {
    printf("%d\n", pthread_mutex_unlock(&mutex) == EPERM);
    printf("%d\n", pthread_mutex_trylock(&mutex) == EBUSY);
}

int main(void) {
    printf("%d\n", pthread_mutex_unlock(&mutex) == EPERM);
    pthread_mutex_lock(&mutex);
    printf("%d\n", pthread_mutex_lock(&mutex) == EDEADLK);
    printf("%d\n", pthread_mutex_destroy(&mutex) == EBUSY);
    join(start(other));
    printf("%d\n", pthread_mutex_unlock(&mutex));
}
