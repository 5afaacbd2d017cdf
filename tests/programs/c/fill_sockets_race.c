// Functions of sockets read and fill what another thread uses: messages, addresses, options.
#include "../include/touch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static struct sockaddr_in to_bind = {.sin_family = AF_INET}, own, from, again, peer, sender, nowhere = {.sin_family = AF_MAX};
static socklen_t own_len = sizeof own, from_len = sizeof from;
static int option, wanted = 1;
static char sent[8], received[8], to[8], came[8], gathered[8], scattered[8];

static void use(void) {
    turn(1);
    TOUCH(to_bind, 2); //~ RACE bind
    TOUCH(own, 0); //~ RACE getsockname
    TOUCH(nowhere, 4); //~ RACE connect
    TOUCH(from, 2); //~ RACE accept
    from_len = sizeof from; //~ RACE from_len
    TOUCH(again, 2); //~ RACE accept4
    TOUCH(peer, 2); //~ RACE getpeername
    TOUCH(option, 0); //~ RACE getsockopt
    wanted = 1; //~ RACE setsockopt
    TOUCH(sent, 7); //~ RACE send
    TOUCH(received, 7); //~ RACE recv
    TOUCH(to, 0); //~ RACE sendto
    TOUCH(came, 0); //~ RACE recvfrom
    TOUCH(sender, 2); //~ RACE sender
    TOUCH(gathered, 3); //~ RACE sendmsg
    TOUCH(scattered, 4); //~ RACE recvmsg
    next_turn();
}

static void functions(void) {
    turn(2);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    int other = socket(AF_INET, SOCK_STREAM, 0);
    MUST(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &wanted, sizeof wanted) == 0); //~ RACE setsockopt
    MUST(bind(server, (struct sockaddr *)&to_bind, sizeof to_bind) == 0 && listen(server, 2) == 0); //~ RACE bind
    MUST(getsockname(server, (struct sockaddr *)&own, &own_len) == 0); //~ RACE getsockname
    struct sockaddr_in server_address = own;
    server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct sockaddr *to_server = (struct sockaddr *)&server_address;
    MUST(connect(client, to_server, sizeof server_address) == 0);
    MUST(connect(other, to_server, sizeof server_address) == 0);
    // There is no such family.
    MUST(connect(other, (struct sockaddr *)&nowhere, sizeof nowhere) != 0); //~ RACE connect
    int one = accept(server, (struct sockaddr *)&from, &from_len); //~ RACE accept from_len
    socklen_t len = sizeof again;
    int two = accept4(server, (struct sockaddr *)&again, &len, SOCK_CLOEXEC); //~ RACE accept4
    len = sizeof peer;
    MUST(getpeername(one, (struct sockaddr *)&peer, &len) == 0); //~ RACE getpeername
    len = sizeof option;
    MUST(getsockopt(one, SOL_SOCKET, SO_TYPE, &option, &len) == 0); //~ RACE getsockopt
    MUST(send(client, sent, sizeof sent, 0) == 8); //~ RACE send
    MUST(recv(one, received, sizeof received, MSG_WAITALL) == 8); //~ RACE recv

    int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    len = sizeof mine;
    MUST(bind(datagrams, (struct sockaddr *)&mine, len) == 0);
    MUST(getsockname(datagrams, (struct sockaddr *)&mine, &len) == 0);
    MUST(sendto(datagrams, to, sizeof to, 0, (struct sockaddr *)&mine, len) == 8); //~ RACE sendto
    MUST(recvfrom(datagrams, came, sizeof came, 0, (struct sockaddr *)&sender, &len) == 8); //~ RACE recvfrom sender

    struct iovec out[2] = {{gathered, 2}, {gathered + 2, 6}}, in[2] = {{scattered, 4}, {scattered + 4, 4}};
    struct msghdr message = {.msg_iov = out, .msg_iovlen = 2}, answer = {.msg_iov = in, .msg_iovlen = 2};
    MUST(sendmsg(other, &message, 0) == 8); //~ RACE sendmsg
    MUST(recvmsg(two, &answer, MSG_WAITALL) == 8); //~ RACE recvmsg
    next_turn();
}

int main(void) {
    together(use, functions);
}
