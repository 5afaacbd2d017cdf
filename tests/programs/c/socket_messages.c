// A block of memory goes to and fro through sockets: send and recv, sendmsg and recvmsg, datagrams, readv and writev.
#include "../include/threads.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static int streams[2], datagrams[2];

static void ask(void) {
    int *block = malloc(sizeof *block);
    *block = 0;
    for (int i = 0; i < ROUNDS; i++) {
        (*block)++;
        MUST(send(streams[0], &block, sizeof block, MSG_NOSIGNAL) == sizeof block);
        block = NULL;
        struct iovec vector = {&block, sizeof block};
        struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
        MUST(recvmsg(streams[0], &message, MSG_WAITALL) == sizeof block);
        (*block)++;
        MUST(sendto(datagrams[0], &block, sizeof block, 0, NULL, 0) == sizeof block);
        MUST(readv(datagrams[0], &vector, 1) == sizeof block);
    }
    printf("%d\n", *block);
    free(block);
}

static void answer(void) {
    for (int i = 0; i < ROUNDS; i++) {
        int *block;
        struct iovec vector = {&block, sizeof block};
        struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
        MUST(recv(streams[1], &block, sizeof block, MSG_WAITALL) == sizeof block);
        (*block)++;
        MUST(sendmsg(streams[1], &message, 0) == sizeof block);
        MUST(recvfrom(datagrams[1], &block, sizeof block, 0, NULL, NULL) == sizeof block);
        (*block)++;
        MUST(writev(datagrams[1], &vector, 1) == sizeof block);
    }
}

int main(void) {
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, streams) == 0);
    MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) == 0);
    together(ask, answer);
}
