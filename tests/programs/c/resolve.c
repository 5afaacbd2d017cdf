// Functions that give out memory of their own making: getaddrinfo, getline, strdup; handed from thread to thread under a lock.
#include <netdb.h>
#include <sys/socket.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct addrinfo *addresses;
static int count;

static void *work(void *argument) {
    for (int i = 0; i < 20; i++) {
        struct addrinfo *found, hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
        MUST(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
        pthread_mutex_lock(&mutex);
        if (addresses) {
            count += addresses->ai_family == AF_INET;
            freeaddrinfo(addresses);
        }
        addresses = found;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    count += addresses->ai_family == AF_INET;
    freeaddrinfo(addresses);
    printf("%d\n", count);
}
