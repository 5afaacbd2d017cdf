// Asks an HTTP server on this machine for one file again and again, from several threads, some over one connection.
// Usage: load PORT PATH BYTES THREADS REQUESTS. Prints how many answers were right; fails unless all were.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port;
static const char *path;
static long bytes, requests;
static atomic_long right;

static int reach(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The server may not listen yet.
    for (int tries = 0; tries < 200; tries++) {
        if (connect(fd, (struct sockaddr *)&server, sizeof server) == 0) {
            return fd;
        }
        usleep(50000);
    }
    perror("connect");
    exit(1);
}

// Whether the answer is 200 with as many bytes as expected.
static int ask(int fd, int keep) {
    char text[65536];
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: %s\r\n\r\n", path,
                          keep ? "keep-alive" : "close");
    if (send(fd, text, (size_t)length, MSG_NOSIGNAL) != length) {
        return 0;
    }
    long have = 0, body = -1;
    int good = 0;
    while (body < bytes) {
        ssize_t got = recv(fd, text + (body < 0 ? have : 0), sizeof text - 1 - (size_t)(body < 0 ? have : 0), 0);
        if (got <= 0) {
            return 0;
        }
        if (body >= 0) {
            body += got;
            continue;
        }
        have += got;
        text[have] = 0;
        char *end = strstr(text, "\r\n\r\n");
        if (end) {
            good = strncmp(text, "HTTP/1.1 200", 12) == 0;
            body = have - (end + 4 - text);
        }
    }
    return good && body == bytes;
}

static void *work(void *argument) {
    int fd = -1;
    for (long i = 0; i < requests; i++) {
        int keep = i % 4 != 3;
        if (fd < 0) {
            fd = reach();
        }
        right += ask(fd, keep);
        if (!keep) {
            close(fd);
            fd = -1;
        }
    }
    return argument;
}

int main(int count, char **words) {
    if (count != 6) {
        fprintf(stderr, "usage: load PORT PATH BYTES THREADS REQUESTS\n");
        return 2;
    }
    port = atoi(words[1]);
    path = words[2];
    bytes = atol(words[3]);
    int threads = atoi(words[4]);
    requests = atol(words[5]);
    pthread_t thread[64];
    for (int i = 0; i < threads && i < 64; i++) {
        pthread_create(&thread[i], NULL, work, NULL);
    }
    for (int i = 0; i < threads && i < 64; i++) {
        pthread_join(thread[i], NULL);
    }
    printf("%ld of %ld right\n", (long)right, threads * requests);
    return right != threads * requests;
}
