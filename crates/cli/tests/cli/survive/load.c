#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// load SECONDS [races]: threads come and go in all ways, and pass memory on to each other in all ways, for so long. Without races
// nothing must be reported, and all sums must be right; with them, there are 16 of them, each found while other threads start,
// end, and find theirs.
#define THREADS 6
#define BLOCKS 64
#define WORDS 512
#define RACES 16

static pthread_mutex_t locks[BLOCKS];
static long blocks[BLOCKS][WORDS]; // a page each: they go from thread to thread
static long added[THREADS];
static long constant[WORDS];
static long atomic_sum;
static sem_t ended;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static long guarded;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static long *queue[64];
static int queued;

static uint32_t next(uint32_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random;
}

#define RACE(n)                                                                                                                   \
    int raced_##n;                                                                                                                \
    __attribute__((noinline)) static void race_##n(void) { raced_##n = 1; }
RACE(0)
RACE(1)
RACE(2)
RACE(3)
RACE(4)
RACE(5)
RACE(6)
RACE(7)
RACE(8)
RACE(9)
RACE(10)
RACE(11)
RACE(12)
RACE(13)
RACE(14)
RACE(15)

static void (*const lines_that_race[RACES])(void) = {
    race_0, race_1, race_2,  race_3,  race_4,  race_5,  race_6,  race_7,
    race_8, race_9, race_10, race_11, race_12, race_13, race_14, race_15,
};

static int races, round_number;

static void *detached(void *block) {
    long *own = block;
    for (int i = 0; i < 100; i++)
        own[i] += constant[i];
    free(own);
    sem_post(&ended);
    return 0;
}

static void on_signal(int signal) {
    (void)signal;
    free(malloc(50));
    __atomic_fetch_add(&atomic_sum, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&atomic_sum, 1, __ATOMIC_RELAXED);
}

static void *work(void *number) {
    long me = (long)number;
    uint32_t random = (uint32_t)(me + 1 + 100 * round_number);
    // Before all that orders threads.
    if (races)
        lines_that_race[round_number % RACES]();
    for (int i = 0; i < 300; i++) {
        // Under the lock of each block, in runs of words.
        int block = (int)(next(&random) % BLOCKS);
        int from = (int)(next(&random) % WORDS), count = (int)(next(&random) % 40);
        pthread_mutex_lock(&locks[block]);
        for (int w = from; w < WORDS && w < from + count; w++) {
            blocks[block][w] += constant[w % 7];
            added[me] += constant[w % 7];
        }
        pthread_mutex_unlock(&locks[block]);
        // Blocks of the heap from thread to thread.
        long *got = 0;
        pthread_mutex_lock(&queue_lock);
        if (queued > 0 && next(&random) % 2)
            got = queue[--queued];
        else if (queued < 64) {
            long *new = malloc(sizeof(long) * 100);
            memset(new, 0, sizeof(long) * 100);
            queue[queued++] = new;
        }
        pthread_mutex_unlock(&queue_lock);
        if (got) {
            for (int w = 0; w < 100; w++)
                got[w] = me;
            pthread_attr_t attributes;
            pthread_t thread;
            pthread_attr_init(&attributes);
            pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
            if (next(&random) % 8 || pthread_create(&thread, &attributes, detached, got)) {
                free(got);
                sem_post(&ended);
            }
            sem_wait(&ended);
            pthread_attr_destroy(&attributes);
        }
        __atomic_fetch_add(&atomic_sum, 1, __ATOMIC_ACQ_REL);
        if (next(&random) % 16 == 0) {
            pthread_rwlock_wrlock(&rw);
            guarded++;
        } else {
            pthread_rwlock_rdlock(&rw);
            if (guarded < 0)
                puts("odd");
        }
        pthread_rwlock_unlock(&rw);
        if (next(&random) % 64 == 0)
            pthread_kill(pthread_self(), SIGUSR1);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 97;
    signal(SIGUSR1, on_signal);
    races = count > 2;
    sem_init(&ended, 0, 0);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&locks[i], 0);
    for (int i = 0; i < WORDS; i++)
        constant[i] = i % 5;
    time_t until = time(0) + atol(arguments[1]);
    long rounds = 0;
    do {
        pthread_t threads[THREADS];
        round_number = (int)rounds;
        for (long i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], 0, work, (void *)i))
                return 98;
        if (rounds % 8 == 3) {
            pid_t child = fork();
            if (child == 0)
                _exit(atomic_sum < 0);
            waitpid(child, 0, 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], 0);
        rounds++;
    } while (time(0) < until || rounds < RACES);
    long sum = 0, expected = 0;
    for (int i = 0; i < BLOCKS; i++)
        for (int w = 0; w < WORDS; w++)
            sum += blocks[i][w];
    for (int i = 0; i < THREADS; i++)
        expected += added[i];
    puts(sum == expected && atomic_sum == rounds * THREADS * 300 ? "all right" : "wrong sums");
    return 0;
}
