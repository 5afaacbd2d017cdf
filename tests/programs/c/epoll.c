// What a thread did before it asked an epoll for events, or made a file ready, comes before the event. The descriptors are copies.
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../include/threads.h"

enum { ROUNDS = 200 };

struct source {
    int number;
    int woken;
};

static int epoll, copy, wake;

static void ask(void) {
    for (int i = 0; i < ROUNDS; i++) {
        struct source *source = malloc(sizeof *source);
        source->number = i;
        source->woken = 0;
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = source};
        if (epoll_ctl(copy, i == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, wake, &event) != 0) {
            perror("epoll_ctl");
        }
        // Changed after the epoll knows it: the write tells of that.
        source->woken = 1;
        uint64_t one = 1;
        if (write(wake, &one, sizeof one) != sizeof one) {
            perror("write");
        }
        turn(2 * i + 2);
        if (read(wake, &one, sizeof one) != sizeof one) {
            perror("read");
        }
        next_turn();
    }
}

static void wait_for_it(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1) {
            perror("epoll_wait");
        }
        struct source *source = event.data.ptr;
        sum += source->number;
        // The file is not read: only the event tells.
        free(source);
        turn(2 * i + 1);
        next_turn();
    }
    printf("%d\n", sum);
}

int main(void) {
    epoll = epoll_create1(0);
    copy = dup(epoll);
    wake = eventfd(0, EFD_NONBLOCK);
    together(ask, wait_for_it);
}
