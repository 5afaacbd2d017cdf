// The program becomes another one while its threads are at work, in order.
#include "../include/threads.h"

#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *counts(void *argument) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        data++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        MUST(pthread_create(&thread, NULL, counts, NULL) == 0);
    }
    for (int now = 0; now < 1000;) {
        pthread_mutex_lock(&mutex);
        now = data;
        pthread_mutex_unlock(&mutex);
    }
    puts("main");
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "echo other; exit 7", (char *)NULL);
}
