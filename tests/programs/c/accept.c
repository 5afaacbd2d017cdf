// Who accepts comes after who connected, and who connects after who listens: there need be no bytes.
#include "../include/threads.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 20 };

static int server, asked[ROUNDS], listening;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void client(void) {
    for (int i = 0; i < ROUNDS; i++) {
        int file = socket(AF_INET, SOCK_STREAM, 0);
        asked[i] = i;
        MUST(connect(file, (struct sockaddr *)&address, sizeof address) == 0);
        MUST(listening == 1);
        close(file);
    }
}

static void serve(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        int file = accept(server, (struct sockaddr *)&from, &len);
        MUST(file >= 0 && from.sin_family == AF_INET);
        sum += asked[i];
        close(file);
    }
    printf("%d\n", sum);
}

static void listens(void) {
    listening = 1;
    MUST(listen(server, ROUNDS) == 0);
    next_turn();
    serve();
}

static void connects(void) {
    turn(2);
    client();
}

int main(void) {
    server = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    MUST(bind(server, (struct sockaddr *)&address, len) == 0);
    MUST(getsockname(server, (struct sockaddr *)&address, &len) == 0);
    together(listens, connects);
}
