#include "race.h"
#include <semaphore.h>

// threads HOW COUNT: so many short threads one after another, then a race of an early one with a late one, and one of the last two.
// HOW: j, each is waited for; s, each is detached and says with a semaphore that it is done; d, each is detached, and nothing
// that anybody sees comes after it.
static sem_t done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
int early;

static void *work(void *number) {
    pthread_mutex_lock(&lock);
    sum += (long)number;
    pthread_mutex_unlock(&lock);
    sem_post(&done);
    return 0;
}

static void *alone(void *number) {
    if (number == (void *)7)
        early = 1;
    return 0;
}

static void *late(void *unused) {
    (void)unused;
    early++;
    return 0;
}

int main(int count, char **arguments) {
    if (count < 3)
        return 97;
    int how = *arguments[1];
    long threads = atol(arguments[2]);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    if (how != 'j')
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sem_init(&done, 0, 0);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        while (pthread_create(&thread, &attributes, how == 'd' ? alone : work, (void *)i))
            ; // Those before it have yet to end.
        if (how != 'd')
            sem_wait(&done);
        if (how == 'j')
            pthread_join(thread, 0);
    }
    pthread_t thread;
    if (how == 'd' && !pthread_create(&thread, 0, late, 0))
        pthread_join(thread, 0);
    race();
    printf("%ld\n", sum);
    return 4;
}
