// Names and addresses of hosts go where another thread looks.
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../include/touch.h"

static struct addrinfo *list, *given_back;
static char host[64], service[64], text[INET6_ADDRSTRLEN], interface[IF_NAMESIZE];
static struct sockaddr_in address = {.sin_family = AF_INET};
static struct in6_addr large;
static struct in_addr small;
static struct hostent entry, *found;
static char buffer[1024], question[16] = "127.0.0.1";

static void use(void) {
    turn(1);
    TOUCH(list, 0); //~ RACE getaddrinfo
    question[8] = '1'; //~ RACE question
    TOUCH(address, 4); //~ RACE address
    TOUCH(host, 0); //~ RACE host
    TOUCH(service, 1); //~ RACE service
    TOUCH(entry, 0); //~ RACE gethostbyname_r
    TOUCH(found, 0); //~ RACE found
    TOUCH(text, 2); //~ RACE inet_ntop
    TOUCH(large, 15); //~ RACE inet_pton
    TOUCH(small, 3); //~ RACE inet_aton
    TOUCH(interface, 0); //~ RACE if_indextoname
    given_back->ai_flags = 1; //~ RACE freeaddrinfo
    next_turn();
}

static void functions(void) {
    turn(2);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    MUST(getaddrinfo(question, "80", &hints, &list) == 0); //~ RACE getaddrinfo question
    struct sockaddr *any = (struct sockaddr *)&address;
    const int flags = NI_NUMERICHOST | NI_NUMERICSERV;
    MUST(getnameinfo(any, sizeof address, host, sizeof host, service, sizeof service, flags) == 0); //~ RACE address host service
    int error;
    MUST(gethostbyname_r("127.0.0.1", &entry, buffer, sizeof buffer, &found, &error) == 0); //~ RACE gethostbyname_r found
    MUST(inet_ntop(AF_INET6, &in6addr_loopback, text, sizeof text)); //~ RACE inet_ntop
    MUST(inet_pton(AF_INET6, "::1", &large) == 1); //~ RACE inet_pton
    MUST(inet_aton("127.0.0.1", &small)); //~ RACE inet_aton
    MUST(if_indextoname(if_nametoindex("lo"), interface)); //~ RACE if_indextoname
    freeaddrinfo(given_back); //~ RACE freeaddrinfo
    freeaddrinfo(list);
    next_turn();
}

int main(void) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    MUST(getaddrinfo("127.0.0.1", "80", &hints, &given_back) == 0);
    together(use, functions);
}
