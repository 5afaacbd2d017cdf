// What is waited for, and what is ready, is kept where another thread looks.
#include "../include/touch.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static struct pollfd polled, p_polled, asked;
static fd_set selected, p_selected;
static struct epoll_event event, came, p_came;

static void use(void) {
    turn(1);
    polled.revents = 0; //~ RACE poll
    p_polled.revents = 0; //~ RACE ppoll
    asked.events = POLLIN; //~ RACE asked
    TOUCH(selected, 1); //~ RACE select
    TOUCH(p_selected, 1); //~ RACE pselect
    TOUCH(event, 4); //~ RACE epoll_ctl
    TOUCH(came, 4); //~ RACE epoll_wait
    TOUCH(p_came, 0); //~ RACE epoll_pwait
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(poll(&polled, 1, 0) == 1); //~ RACE poll
    MUST(ppoll(&p_polled, 1, NULL, NULL) == 1); //~ RACE ppoll
    MUST(poll(&asked, 1, 0) == 1); //~ RACE asked
    int file = polled.fd;
    MUST(select(file + 1, &selected, NULL, NULL, NULL) == 1); //~ RACE select
    MUST(pselect(file + 1, &p_selected, NULL, NULL, NULL, NULL) == 1); //~ RACE pselect
    int epoll = epoll_create1(0);
    MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) == 0); //~ RACE epoll_ctl
    MUST(epoll_wait(epoll, &came, 1, 0) == 1); //~ RACE epoll_wait
    MUST(epoll_pwait(epoll, &p_came, 1, 0, NULL) == 1); //~ RACE epoll_pwait
    next_turn();
}

int main(void) {
    int ends[2];
    MUST(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    polled = p_polled = asked = (struct pollfd){ends[0], POLLIN, 0};
    FD_SET(ends[0], &selected);
    p_selected = selected;
    event = (struct epoll_event){.events = EPOLLIN};
    together(use, functions);
}
