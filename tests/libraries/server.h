// A server of HTTP on the loopback for tests: it answers each request with the path that was asked for, `repeat` times.
#ifndef SERVER_H
#define SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../programs/include/threads.h"

enum { REPEAT = 2000 };

struct server {
    int socket, port;
    pthread_t thread;
};

static inline void server_write(int to, const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(to, text, length);
        if (written <= 0) {
            return;
        }
        text += written;
        length -= written;
    }
}

static inline void server_answer(int connection) {
    char request[4000];
    size_t length = 0;
    while (length < sizeof request - 1) {
        ssize_t got = read(connection, request + length, sizeof request - 1 - length);
        if (got <= 0) {
            return;
        }
        length += got;
        request[length] = 0;
        if (strstr(request, "\r\n\r\n")) {
            break;
        }
    }
    char path[100], head[200];
    if (sscanf(request, "GET %99s", path) != 1) {
        return;
    }
    size_t size = strlen(path) * REPEAT;
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", size);
    server_write(connection, head, strlen(head));
    for (int i = 0; i < REPEAT; i++) {
        server_write(connection, path, strlen(path));
    }
}

static inline void *server_run(void *argument) {
    struct server *server = argument;
    for (;;) {
        int connection = accept(server->socket, NULL, NULL);
        if (connection < 0) {
            return NULL;
        }
        server_answer(connection);
        close(connection);
    }
}

static inline void server_start(struct server *server) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server->socket = socket(AF_INET, SOCK_STREAM, 0);
    MUST(bind(server->socket, (struct sockaddr *)&address, sizeof address) == 0);
    MUST(listen(server->socket, 50) == 0);
    MUST(getsockname(server->socket, (struct sockaddr *)&address, &length) == 0);
    server->port = ntohs(address.sin_port);
    MUST(pthread_create(&server->thread, NULL, server_run, server) == 0);
}

static inline void server_stop(struct server *server) {
    shutdown(server->socket, SHUT_RDWR);
    join(server->thread);
    close(server->socket);
}

#endif
