// Globals of all kinds, each behind its own lock.
#include "../include/threads.h"

struct pair {
    int first, second[3];
};

int initialised = 3;
static struct pair pairs[5];
static pthread_mutex_t mutexes[5];

static void *work(void *argument) {
    static int local;
    for (int i = 0; i < 300; i++) {
        int n = i % 5;
        pthread_mutex_lock(&mutexes[n]);
        pairs[n].first++;
        pairs[n].second[i % 3]++;
        if (n == 0) {
            initialised++;
            local++;
        }
        pthread_mutex_unlock(&mutexes[n]);
    }
    pthread_mutex_lock(&mutexes[0]);
    pairs[0].second[0] += local > 0;
    pthread_mutex_unlock(&mutexes[0]);
    return argument;
}

int main(void) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
    }
    crowd(3, work);
    printf("%d %d %d\n", initialised, pairs[4].first, pairs[0].second[0]);
}
