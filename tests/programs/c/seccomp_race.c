// As seccomp.c: what races after it is found.
// orders: both
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../include/threads.h"

static long data[1024];

static void confine(void) {
    // Everything but what hands memory from one thread to another.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0);
}

static void first(void) {
    data[7] = 1; // A region of its own.
    turn(1);
    confine();
    data[512] = 1; //~ RACE data
    next_turn();
}

static void second(void) {
    turn(2);
    data[512] = 2; //~ RACE data
    next_turn();
}

int main(void) {
    together(first, second);
    printf("%ld\n", data[7] + data[1000]);
    return 0;
}
