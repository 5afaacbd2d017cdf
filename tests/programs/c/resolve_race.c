// The result of getaddrinfo is read by one thread and given back by another at the same time.
#include <netdb.h>
#include <sys/socket.h>

#include "../include/threads.h"

static struct addrinfo *addresses;

static void change(void) {
    turn(1);
    addresses->ai_flags = 1; //~ RACE flags
    next_turn();
}

static void read_it(void) {
    turn(2);
    printf("%d\n", addresses->ai_flags); //~ RACE flags
    next_turn();
}

int main(void) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    MUST(getaddrinfo("127.0.0.1", "80", &hints, &addresses) == 0);
    together(change, read_it);
    freeaddrinfo(addresses);
}
