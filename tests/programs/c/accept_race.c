// What a thread does after it has connected is not ordered before what the accepting thread does.
#include "../include/threads.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int server, before, after;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void client(void) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    before = 1;
    MUST(connect(file, (struct sockaddr *)&address, sizeof address) == 0);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void serve(void) {
    turn(2);
    MUST(accept(server, NULL, NULL) >= 0);
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    server = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    MUST(bind(server, (struct sockaddr *)&address, len) == 0 && listen(server, 1) == 0);
    MUST(getsockname(server, (struct sockaddr *)&address, &len) == 0);
    together(client, serve);
}
