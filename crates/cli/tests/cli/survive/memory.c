#include "race.h"
#include <sys/resource.h>

// memory v|d: races, gives itself a limit of memory, takes all there is, goes on with locks, atomics and threads, and races.
#define MANY 20000
static pthread_mutex_t locks[MANY];
static long cells[MANY], counts[MANY];
int late;

static void *use(void *unused) {
    (void)unused;
    for (int i = 0; i < MANY; i++) {
        pthread_mutex_lock(&locks[i]);
        cells[i]++;
        pthread_mutex_unlock(&locks[i]);
    }
    for (int i = 0; i < MANY; i++)
        __atomic_fetch_add(&counts[i], 1, __ATOMIC_SEQ_CST);
    return 0;
}

static void *late_racer(void *unused) {
    (void)unused;
    pthread_barrier_wait(&meeting);
    late++;
    return 0;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 97;
    for (int i = 0; i < MANY; i++)
        pthread_mutex_init(&locks[i], 0);
    race();
    struct rlimit limit = {400 << 20, 400 << 20};
    int which = *arguments[1] == 'd' ? RLIMIT_DATA : RLIMIT_AS;
    if (setrlimit(which, &limit))
        perror("setrlimit");
    getrlimit(which, &limit);
    printf("limits of %ld and %ld MB\n", (long)limit.rlim_cur >> 20, (long)limit.rlim_max >> 20);
    size_t got = 0;
    void **list = 0, **next;
    for (size_t size = 1 << 20; size >= 64; size /= 2)
        while (got < 600u << 20 && (next = malloc(size))) {
            *next = list;
            list = next;
            got += size;
        }
    puts(got < 400u << 20 && got > 200u << 20 ? "ran out as asked" : "ran out too early or too late");
    for (; list; list = next) {
        next = *list;
        free(list);
    }
    if (!two(0, use) || !two(0, late_racer))
        puts("no threads");
    puts("went on");
    return 7;
}
