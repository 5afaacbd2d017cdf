// What was written before bytes went into a pipe, a socket or an eventfd is there for who got them out.
#include "../include/threads.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int descriptors[2], sockets[2], event;
int by_pipe, by_socket, by_event, sum;

static void writer(void) {
    by_pipe = 1;
    MUST(write(descriptors[1], "x", 1) == 1);
    by_socket = 2;
    MUST(send(sockets[1], "x", 1, 0) == 1);
    by_event = 3;
    uint64_t one = 1;
    MUST(write(event, &one, sizeof one) == sizeof one);
}

static void reader(void) {
    uint64_t got;
    char byte;
    MUST(read(event, &got, sizeof got) == sizeof got);
    sum += by_event;
    MUST(recv(sockets[0], &byte, 1, 0) == 1);
    sum += by_socket;
    MUST(read(descriptors[0], &byte, 1) == 1);
    sum += by_pipe;
}

int main(void) {
    MUST(pipe(descriptors) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    event = eventfd(0, 0);
    together(writer, reader);
    printf("%d\n", sum);
}
