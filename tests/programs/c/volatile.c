// Volatile variables order nothing, so they are behind a lock like others.
#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int flag, data;

static void *work(void *argument) {
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&mutex);
        flag = !flag;
        data += flag + 1;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(4, work);
    printf("%d %d\n", flag, data);
}
