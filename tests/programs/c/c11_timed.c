// mtx_timedlock, cnd_timedwait, call_once and recursive mutexes of <threads.h>.
#include <threads.h>
#include <time.h>

#include "../include/threads.h"

enum { ROUNDS = 100 };

static mtx_t timed, recursive;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static int ready, data, made, again;

static void make(void) {
    made = 42;
}

static struct timespec late(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    time.tv_sec += 1000;
    return time;
}

static int work(void *argument) {
    int n = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        call_once(&flag, make);
        MUST(made == 42);
        struct timespec limit = late();
        MUST(mtx_timedlock(&timed, &limit) == thrd_success);
        while (ready % 2 != n) {
            MUST(cnd_timedwait(&condition, &timed, &limit) == thrd_success);
        }
        ready++;
        data += i;
        cnd_broadcast(&condition);
        mtx_unlock(&timed);
        mtx_lock(&recursive);
        MUST(mtx_trylock(&recursive) == thrd_success);
        again++;
        mtx_unlock(&recursive);
        again++;
        mtx_unlock(&recursive);
    }
    return 0;
}

int main(void) {
    mtx_init(&timed, mtx_timed);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    cnd_init(&condition);
    thrd_t threads[2];
    for (long i = 0; i < 2; i++) {
        MUST(thrd_create(&threads[i], work, (void *)i) == thrd_success);
    }
    for (int i = 0; i < 2; i++) {
        MUST(thrd_join(threads[i], NULL) == thrd_success);
    }
    printf("%d %d\n", data, again);
}
