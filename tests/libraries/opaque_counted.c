// The last of many users frees an object, by a count that nobody sees.
// library: opaque.c
#include "../programs/include/threads.h"
#include "opaque.h"

enum { THREADS = 4, ROUNDS = 100 };

struct object {
    int of_thread[THREADS];
};

static struct opaque_counted *shared[ROUNDS];
static int destroyed[ROUNDS], total;

static void destroy(void *argument) {
    struct object *object = argument;
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += object->of_thread[i];
        object->of_thread[i] = 0;
    }
    destroyed[sum % ROUNDS]++;
    free(object);
}

static void *use(void *argument) {
    long thread = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct object *object = opaque_object(shared[i]);
        object->of_thread[thread] = thread == 0 ? i : ROUNDS;
        opaque_drop(shared[i]);
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < ROUNDS; i++) {
        shared[i] = opaque_counted_new(calloc(1, sizeof(struct object)), destroy);
        for (int n = 1; n < THREADS; n++) {
            opaque_take(shared[i]);
        }
    }
    crowd(THREADS, use);
    for (int i = 0; i < ROUNDS; i++) {
        total += destroyed[i];
    }
    printf("%d\n", total);
}
