// What is told of threads goes where another thread looks.
// orders: both
#include "../include/touch.h"

#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static char name[16], new_name[16] = "new";
static pthread_attr_t attributes, fresh, asked;
static size_t stack_size, guard_size, whole_size;
static int detached, policy, inherited, scope, value, current, result;
static struct sched_param parameters, of_process, of_thread;
static void *stack, *joined, *tried, *timed, *clocked;
static cpu_set_t affinity, of_np;
static clockid_t clock_id, process_clock;
static pthread_key_t key;
static sem_t semaphore;
static pthread_t ended[4];
static thrd_t c11;

static void functions(void) {
    turn(1);
    pthread_getname_np(pthread_self(), name, sizeof name); //~ RACE getname
    pthread_setname_np(pthread_self(), new_name); //~ RACE setname
    pthread_getattr_np(pthread_self(), &attributes); //~ RACE getattr
    pthread_attr_init(&fresh); //~ RACE init
    pthread_attr_getdetachstate(&asked, &detached); //~ RACE getdetachstate
    pthread_attr_getguardsize(&asked, &guard_size); //~ RACE getguardsize
    pthread_attr_getstacksize(&asked, &stack_size); //~ RACE getstacksize
    pthread_attr_getschedparam(&asked, &parameters); //~ RACE getschedparam
    pthread_attr_getschedpolicy(&asked, &policy); //~ RACE getschedpolicy
    pthread_attr_getinheritsched(&asked, &inherited); //~ RACE getinheritsched
    pthread_attr_getscope(&asked, &scope); //~ RACE getscope
    pthread_attr_getstack(&asked, &stack, &whole_size); //~ RACE getstack
    pthread_getaffinity_np(pthread_self(), sizeof of_np, &of_np); //~ RACE getaffinity_np
    sched_getaffinity(0, sizeof affinity, &affinity); //~ RACE getaffinity
    sched_getparam(0, &of_process); //~ RACE getparam
    pthread_getschedparam(pthread_self(), &current, &of_thread); //~ RACE schedparam
    pthread_getcpuclockid(pthread_self(), &clock_id); //~ RACE getcpuclockid
    clock_getcpuclockid(0, &process_clock); //~ RACE processclock
    pthread_key_create(&key, NULL); //~ RACE key_create
    sem_getvalue(&semaphore, &value); //~ RACE getvalue
    struct timespec late = {1L << 40, 0};
    pthread_join(ended[0], &joined); //~ RACE join
    pthread_timedjoin_np(ended[1], &timed, &late); //~ RACE timedjoin
    pthread_clockjoin_np(ended[2], &clocked, CLOCK_MONOTONIC, &late); //~ RACE clockjoin
    while (pthread_tryjoin_np(ended[3], &tried) != 0) { //~ RACE tryjoin
    }
    thrd_join(c11, &result); //~ RACE thrd_join
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(name, 0); //~ RACE getname
    TOUCH(new_name, 3); //~ RACE setname
    TOUCH(attributes, 16); //~ RACE getattr
    TOUCH(fresh, 55); //~ RACE init
    TOUCH(detached, 0); //~ RACE getdetachstate
    TOUCH(guard_size, 0); //~ RACE getguardsize
    TOUCH(stack_size, 0); //~ RACE getstacksize
    TOUCH(parameters, 0); //~ RACE getschedparam
    TOUCH(policy, 0); //~ RACE getschedpolicy
    TOUCH(inherited, 0); //~ RACE getinheritsched
    TOUCH(scope, 0); //~ RACE getscope
    TOUCH(stack, 0); //~ RACE getstack
    TOUCH(of_np, 0); //~ RACE getaffinity_np
    TOUCH(affinity, 127); //~ RACE getaffinity
    TOUCH(of_process, 0); //~ RACE getparam
    TOUCH(current, 0); //~ RACE schedparam
    TOUCH(clock_id, 0); //~ RACE getcpuclockid
    TOUCH(process_clock, 0); //~ RACE processclock
    TOUCH(key, 0); //~ RACE key_create
    TOUCH(value, 0); //~ RACE getvalue
    TOUCH(joined, 0); //~ RACE join
    TOUCH(timed, 7); //~ RACE timedjoin
    TOUCH(clocked, 0); //~ RACE clockjoin
    TOUCH(tried, 0); //~ RACE tryjoin
    TOUCH(result, 0); //~ RACE thrd_join
    next_turn();
}

static void *ends(void *argument) {
    return argument;
}

static int ends_too(void *argument) {
    return argument != NULL;
}

int main(void) {
    pthread_attr_init(&asked);
    static char room[1 << 16];
    MUST(pthread_attr_setstack(&asked, room, sizeof room) == 0);
    MUST(sem_init(&semaphore, 0, 1) == 0);
    for (int i = 0; i < 4; i++) {
        MUST(pthread_create(&ended[i], NULL, ends, NULL) == 0);
    }
    MUST(thrd_create(&c11, ends_too, NULL) == thrd_success);
    together(functions, use);
}
