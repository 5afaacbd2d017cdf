#include "race.h"

// 10,000 locks held at once; then locks destroyed and freed while they are held.
#define MANY 10000
static pthread_mutex_t *locks;
static int data;

static void *many(void *unused) {
    for (int i = 0; i < MANY; i++)
        pthread_mutex_lock(&locks[i]);
    data++;
    for (int i = 0; i < MANY; i++)
        pthread_mutex_unlock(&locks[i]);
    return racer(unused);
}

static void *careless(void *unused) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_t *lock = malloc(sizeof *lock);
        pthread_mutex_init(lock, 0);
        pthread_mutex_lock(lock);
        if (i % 2)
            pthread_mutex_destroy(lock);
        free(lock);
    }
    return racer(unused);
}

int main(void) {
    locks = calloc(MANY, sizeof *locks);
    for (int i = 0; i < MANY; i++)
        pthread_mutex_init(&locks[i], 0);
    pthread_barrier_init(&meeting, 0, 2);
    two(0, many);
    two(0, careless);
    printf("%d\n", data);
    return 4;
}
