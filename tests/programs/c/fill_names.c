// Names and addresses of hosts, handed from thread to thread under a lock.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct addrinfo *list;
static char host[64], service[64], text[INET6_ADDRSTRLEN];
static struct in6_addr large;
static int right;

static void *work(void *argument) {
    for (int i = 0; i < 30; i++) {
        struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *mine;
        MUST(getaddrinfo("127.0.0.1", "80", &hints, &mine) == 0);
        pthread_mutex_lock(&mutex);
        freeaddrinfo(list);
        list = mine;
        const int flags = NI_NUMERICHOST | NI_NUMERICSERV;
        MUST(getnameinfo(mine->ai_addr, mine->ai_addrlen, host, sizeof host, service, sizeof service, flags) == 0);
        right += strcmp(host, "127.0.0.1") == 0 && strcmp(service, "80") == 0;
        MUST(inet_pton(AF_INET6, "fe80::1", &large) == 1 && inet_ntop(AF_INET6, &large, text, sizeof text) == text);
        right += strcmp(text, "fe80::1") == 0;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    freeaddrinfo(list);
    printf("%d\n", right);
}
