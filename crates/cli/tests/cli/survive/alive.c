#include "race.h"

// alive COUNT: so many threads at once, that all do something, and two of them race.
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *number) {
    pthread_mutex_lock(&lock);
    sum += (long)number;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&all);
    if ((long)number < 2)
        raced++;
    return 0;
}

int main(int count, char **arguments) {
    long threads = count > 1 ? atol(arguments[1]) : 2;
    pthread_t *each = calloc((size_t)threads, sizeof *each);
    pthread_barrier_init(&all, 0, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&each[i], 0, work, (void *)i)) {
            puts("no thread");
            exit(3);
        }
    for (long i = 0; i < threads; i++)
        pthread_join(each[i], 0);
    printf("%ld\n", sum);
    free(each);
    return 4;
}
