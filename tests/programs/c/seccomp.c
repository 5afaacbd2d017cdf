// A process that allows itself no more than it needs, and is killed for anything else, goes on being checked.
#include "../include/confine.h"

enum { LENGTH = 1 << 14 };

static long data[LENGTH];
static pthread_barrier_t phase;

static void *work(void *me) {
    for (long round = 0; round < 6; round++) {
        if (round % 2 == (long)me) {
            for (int i = 0; i < LENGTH; i++) {
                data[i] += i;
            }
        }
        pthread_barrier_wait(&phase);
        if (round == 0 && me == NULL) {
            confine(1);
            confine(0);
        }
        pthread_barrier_wait(&phase);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    MUST(pthread_barrier_init(&phase, NULL, 2) == 0);
    MUST(pthread_create(&thread, NULL, work, (void *)1) == 0);
    work(NULL);
    MUST(pthread_join(thread, NULL) == 0);
    errno = 0;
    MUST(syscall(SYS_read, -1, NULL, 0) == -1 && errno == EBADF);
    printf("%ld\n", data[LENGTH - 1]);
    return 0;
}
