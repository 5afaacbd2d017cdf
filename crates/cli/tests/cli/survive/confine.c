// confine ACTION CALLS COMMAND…: runs the command with a filter that answers the system calls (numbers, with commas) with an error
// number, or kills who makes them.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 4)
        return 97;
    unsigned action = strcmp(arguments[1], "kill") ? SECCOMP_RET_ERRNO | (unsigned)atoi(arguments[1])
                                                   : SECCOMP_RET_KILL_PROCESS;
    struct sock_filter filter[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    for (char *call = strtok(arguments[2], ","); call && length < 60; call = strtok(0, ",")) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(call), 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        return 98;
    }
    execvp(arguments[3], arguments + 3);
    perror(arguments[3]);
    return 99;
}
