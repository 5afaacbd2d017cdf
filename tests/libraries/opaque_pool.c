// A library's threads run the user's functions: each sees what was there when it was submitted, and its end is waited for.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

enum { JOBS = 400 };

struct job {
    int input, output;
};

static void square(void *argument) {
    struct job *job = argument;
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
    printf("%ld\n", sum);
}
