// C11's own threads, mutexes, conditions, once and thread-specific storage.
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

mtx_t mutex, timed;
cnd_t condition;
once_flag flag = ONCE_FLAG_INIT;
tss_t key;
int counter, ready, value, destroyed;

static void initialise(void) {
    value = 42;
}

static void destroy(void *block) {
    mtx_lock(&mutex);
    destroyed += *(int *)block;
    mtx_unlock(&mutex);
    free(block);
}

static int body(void *argument) {
    call_once(&flag, initialise);
    int *block = malloc(sizeof *block);
    *block = value;
    tss_set(key, block);
    for (int i = 0; i < 100; i++) {
        struct timespec deadline;
        timespec_get(&deadline, TIME_UTC);
        deadline.tv_sec += 100;
        if (i % 2) {
            mtx_timedlock(&timed, &deadline);
        } else {
            while (mtx_trylock(&timed) != thrd_success) thrd_yield();
        }
        counter++;
        mtx_unlock(&timed);
    }
    mtx_lock(&mutex);
    ready++;
    cnd_broadcast(&condition);
    mtx_unlock(&mutex);
    return (int)(long)argument;
}

int main(void) {
    mtx_init(&mutex, mtx_plain);
    mtx_init(&timed, mtx_timed);
    cnd_init(&condition);
    tss_create(&key, destroy);
    thrd_t threads[4];
    for (long i = 0; i < 4; i++) {
        thrd_create(&threads[i], body, (void *)i);
    }
    mtx_lock(&mutex);
    while (ready < 4) {
        cnd_wait(&condition, &mutex);
    }
    printf("%d\n", counter);
    mtx_unlock(&mutex);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        int result;
        thrd_join(threads[i], &result);
        sum += result;
    }
    printf("%d %d\n", sum, destroyed);
    mtx_destroy(&mutex);
}
