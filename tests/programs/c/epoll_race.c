// What a thread does after it has asked for an event and made the file ready is not ordered with the event.
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../include/threads.h"

static int epoll, wake, before, after;

static void ask(void) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &before};
    before = 1;
    epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &event);
    uint64_t one = 1;
    if (write(wake, &one, sizeof one) == sizeof one) {
        after = 1; //~ RACE after
    }
    turn(1);
    next_turn();
}

static void wait_for_it(void) {
    turn(2);
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, -1);
    int *seen = event.data.ptr;
    printf("%d ", *seen);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    epoll = epoll_create1(0);
    wake = eventfd(0, EFD_NONBLOCK);
    together(ask, wait_for_it);
}
