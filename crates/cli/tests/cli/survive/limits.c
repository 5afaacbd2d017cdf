#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

// What limit the stack has, and the stacks of threads.
static void *size(void *unused) {
    pthread_attr_t attributes;
    size_t stack;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &stack);
    printf("%zu\n", stack);
    return unused;
}

int main(void) {
    struct rlimit limit;
    pthread_t thread;
    getrlimit(RLIMIT_STACK, &limit);
    printf("%lx %lx\n", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    pthread_create(&thread, 0, size, 0);
    pthread_join(thread, 0);
}
