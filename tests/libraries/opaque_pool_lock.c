// Like opaque_pool, but the functions that the library's threads run take a lock of the program: what they do after it
// was not there to be seen when the library was first found to reach very much.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

enum { JOBS = 400 };

struct job {
    int input, output;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long runs;

static void square(void *argument) {
    struct job *job = argument;
    pthread_mutex_lock(&lock);
    runs++;
    pthread_mutex_unlock(&lock);
    job->output = job->input * job->input;
}

int main(void) {
    struct opaque_pool *pool = opaque_pool_new(4);
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        struct job *jobs = calloc(JOBS, sizeof *jobs);
        for (int i = 0; i < JOBS; i++) {
            jobs[i].input = i + round;
            opaque_submit(pool, square, &jobs[i]);
        }
        opaque_wait(pool);
        for (int i = 0; i < JOBS; i++) {
            sum += jobs[i].output;
        }
        free(jobs);
    }
    opaque_pool_free(pool);
    printf("%ld %ld\n", runs, sum);
}
