#include "race.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// Threads run out (the kernel makes no more of them), and with them the processes that a reporter would be.
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void *starve(void *unused) {
    (void)unused;
    pthread_t thread;
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        perror("seccomp");
    for (int i = 0; i < 1000; i++)
        if (pthread_create(&thread, 0, racer, 0) != EAGAIN)
            puts("a thread too many");
    pthread_mutex_unlock(&one);
    pthread_barrier_wait(&meeting);
    raced++;
    return 0;
}

int main(void) {
    pthread_barrier_init(&meeting, 0, 2);
    two(0, starve);
    puts("went on");
    return 7;
}
