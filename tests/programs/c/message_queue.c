// Blocks of memory go through a queue of messages.
// flags: -lrt
#include "../include/threads.h"

#include <fcntl.h>
#include <mqueue.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static mqd_t queue;

static void producer(void) {
    struct timespec late = {1L << 32, 0};
    for (int i = 0; i < ROUNDS; i++) {
        int *block = malloc(sizeof *block);
        *block = i;
        if (i % 2) {
            MUST(mq_send(queue, (char *)&block, sizeof block, 0) == 0);
        } else {
            MUST(mq_timedsend(queue, (char *)&block, sizeof block, 0, &late) == 0);
        }
    }
}

static void consumer(void) {
    struct timespec late = {1L << 32, 0};
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int *block;
        if (i % 3) {
            MUST(mq_receive(queue, (char *)&block, sizeof block, NULL) == sizeof block);
        } else {
            MUST(mq_timedreceive(queue, (char *)&block, sizeof block, NULL, &late) == sizeof block);
        }
        sum += *block;
        free(block);
    }
    printf("%ld\n", sum);
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%d", getpid());
    struct mq_attr wanted = {.mq_maxmsg = 4, .mq_msgsize = sizeof(int *)};
    queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &wanted);
    MUST(queue >= 0 && mq_unlink(name) == 0);
    together(producer, consumer);
}
