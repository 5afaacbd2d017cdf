// mtx_timedlock and cnd_timedwait that gave up; the second leaves its mutex held, but nobody else takes that.
#include <threads.h>
#include <time.h>

#include "../include/threads.h"

static mtx_t held, own;
static cnd_t condition;
static int a, b;

static int holds(void *argument) {
    mtx_lock(&held);
    turn(1);
    a = 1; //~ RACE lock
    b = 1; //~ RACE wait
    cnd_signal(&condition);
    next_turn();
    invisible_wait(2);
    mtx_unlock(&held);
    return argument != NULL;
}

static int gives_up(void *argument) {
    turn(2);
    struct timespec past = {0};
    MUST(mtx_timedlock(&held, &past) == thrd_timedout);
    int sum = a; //~ RACE lock
    mtx_lock(&own);
    MUST(cnd_timedwait(&condition, &own, &past) == thrd_timedout);
    sum += b; //~ RACE wait
    mtx_unlock(&own);
    printf("%d\n", sum);
    next_turn();
    return argument != NULL;
}

int main(void) {
    mtx_init(&held, mtx_timed);
    mtx_init(&own, mtx_plain);
    cnd_init(&condition);
    thrd_t one, two;
    MUST(thrd_create(&one, holds, NULL) == thrd_success && thrd_create(&two, gives_up, NULL) == thrd_success);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
}
