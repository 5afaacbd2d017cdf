// Messages of a queue, read and filled where another thread is.
// flags: -lrt
#include "../include/touch.h"

#include <fcntl.h>
#include <mqueue.h>
#include <time.h>
#include <unistd.h>

static char sent[8], in_time[8], got[8], got_in_time[8];
static unsigned priority, other_priority;
static struct mq_attr attributes;

static void use(void) {
    turn(1);
    TOUCH(sent, 0); //~ RACE mq_send
    TOUCH(in_time, 7); //~ RACE mq_timedsend
    TOUCH(got, 7); //~ RACE mq_receive
    TOUCH(priority, 0); //~ RACE priority
    TOUCH(got_in_time, 0); //~ RACE mq_timedreceive
    TOUCH(attributes, 0); //~ RACE mq_getattr
    next_turn();
}

static void functions(void) {
    turn(2);
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%d", getpid());
    struct mq_attr wanted = {.mq_maxmsg = 4, .mq_msgsize = 8};
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &wanted);
    MUST(queue >= 0 && mq_unlink(name) == 0);
    struct timespec late = {1L << 32, 0};
    MUST(mq_send(queue, sent, 8, 1) == 0); //~ RACE mq_send
    MUST(mq_timedsend(queue, in_time, 8, 0, &late) == 0); //~ RACE mq_timedsend
    MUST(mq_receive(queue, got, 8, &priority) == 8); //~ RACE mq_receive priority
    MUST(mq_timedreceive(queue, got_in_time, 8, &other_priority, &late) == 8); //~ RACE mq_timedreceive
    MUST(mq_getattr(queue, &attributes) == 0); //~ RACE mq_getattr
    next_turn();
}

int main(void) {
    together(use, functions);
}
