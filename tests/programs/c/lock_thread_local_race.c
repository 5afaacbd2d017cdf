// A lock in thread-local memory is another one in the next thread, though it may lie where that of the last one was.
#include "../include/threads.h"

#include <signal.h>
#include <unistd.h>

static _Thread_local pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void use_lock(void) {
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
}

static void first(void) {
    data = 1; //~ RACE data
    use_lock();
    next_turn();
}

static void second(void) {
    use_lock();
    data = 2; //~ RACE data
}

// Not followed by a detector: which thread it was, and whether it is still there.
#define UNSEEN __attribute__((noinline, disable_sanitizer_instrumentation))

static volatile int number;

UNSEEN static void say_number(void) {
    number = gettid();
}

UNSEEN static int is_there(void) {
    return tgkill(getpid(), number, 0) == 0;
}

static void numbered(void) {
    say_number();
    first();
}

int main(void) {
    MUST(pthread_detach(start(numbered)) == 0);
    turn(2);
    while (is_there()) {
        sched_yield();
    }
    join(start(second));
    printf("%d\n", data);
}
