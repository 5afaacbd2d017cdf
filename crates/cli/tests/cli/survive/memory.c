#include "race.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

// memory m: races, and goes on where the kernel maps nothing any more. memory v|d: races, gives itself a limit of memory, takes all there is, goes on with locks, atomics and threads, and races.
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

static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

// The stacks of the threads are those of earlier ones, which the C library keeps.
static int go_on(void) {
    if (!two(0, use) || !two(0, late_racer))
        puts("no threads");
    puts("went on");
    return 7;
}

int main(int count, char **arguments) {
    if (count < 2)
        return 97;
    for (int i = 0; i < MANY; i++)
        pthread_mutex_init(&locks[i], 0);
    race();
    if (*arguments[1] == 'm') {
        struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            perror("seccomp");
        return go_on();
    }
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
    return go_on();
}
