// A process that allows itself no more than it needs, and is killed for anything else, goes on being checked.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../include/threads.h"

enum { LENGTH = 1 << 14 };

static long data[LENGTH];
static pthread_barrier_t phase;

static void confine(int by_prctl) {
    // Everything but what hands memory from one thread to another.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (by_prctl) {
        MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    } else {
        MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
    }
}

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
