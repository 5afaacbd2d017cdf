// Threads look into the environment, and change it under a lock that all take.
#include "../include/threads.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *work(void *argument) {
    for (int i = 0; i < 50; i++) {
        char name[32];
        snprintf(name, sizeof name, "DEADHEAT_%ld_%d", (long)argument, i);
        pthread_rwlock_wrlock(&lock);
        MUST(setenv(name, "value", 1) == 0);
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_rdlock(&lock);
        char *value = getenv(name);
        // Nothing is changed by these.
        MUST(setenv(name, "other", 0) == 0 && unsetenv("DEADHEAT_NONE") == 0);
        MUST(strcmp(value, "value") == 0);
        pthread_rwlock_unlock(&lock);
        pthread_rwlock_wrlock(&lock);
        MUST(unsetenv(name) == 0);
        pthread_rwlock_unlock(&lock);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    puts("done");
}
