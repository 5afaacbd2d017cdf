// A thread goes on with a block that it has sent away.
#include "../include/threads.h"

#include <sys/socket.h>
#include <sys/uio.h>

static int ends[2];

static void sender(void) {
    int *block = calloc(2, sizeof *block);
    struct iovec vector = {&block, sizeof block};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    block[0] = 1;
    MUST(sendmsg(ends[0], &message, 0) == sizeof block);
    turn(1);
    block[1] = 2; //~ RACE block
    next_turn();
}

static void receiver(void) {
    turn(2);
    int *block;
    MUST(recv(ends[1], &block, sizeof block, 0) == sizeof block);
    printf("%d ", block[0]);
    printf("%d\n", block[1]); //~ RACE block
    next_turn();
}

int main(void) {
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    together(sender, receiver);
}
