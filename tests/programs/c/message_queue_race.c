// A thread goes on with what its message was about.
// flags: -lrt
#include "../include/threads.h"

#include <fcntl.h>
#include <mqueue.h>
#include <unistd.h>

static mqd_t queue;
static int before, after;

static void sender(void) {
    before = 1;
    MUST(mq_send(queue, "x", 1, 0) == 0);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void receiver(void) {
    turn(2);
    char byte;
    MUST(mq_receive(queue, &byte, 1, NULL) == 1);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%d", getpid());
    struct mq_attr wanted = {.mq_maxmsg = 4, .mq_msgsize = 1};
    queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &wanted);
    MUST(queue >= 0 && mq_unlink(name) == 0);
    together(sender, receiver);
}
