// tss_t: values of each thread's own, and destructors at its end, which come before the join.
#include <threads.h>

#include "../include/threads.h"

static tss_t key;
static int freed[4];

static void destroy(void *value) {
    freed[*(int *)value] = 1;
    free(value);
}

static int work(void *argument) {
    int *value = malloc(sizeof *value);
    *value = (int)(long)argument;
    MUST(tss_set(key, value) == thrd_success);
    return tss_get(key) == value ? 0 : 1;
}

int main(void) {
    MUST(tss_create(&key, destroy) == thrd_success);
    thrd_t threads[4];
    int sum = 0;
    for (long i = 0; i < 4; i++) {
        MUST(thrd_create(&threads[i], work, (void *)i) == thrd_success);
    }
    for (int i = 0; i < 4; i++) {
        int result;
        MUST(thrd_join(threads[i], &result) == thrd_success && result == 0);
        sum += freed[i];
    }
    printf("%d\n", sum);
}
