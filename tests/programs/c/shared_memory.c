// Memory that a file stands for, with a mutex in it; given back, and mapped again by the next.
#include "../include/threads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
    pthread_mutex_t mutex;
    int counter;
};

static struct shared *shared;

static void *work(void *argument) {
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&shared->mutex);
        shared->counter++;
        pthread_mutex_unlock(&shared->mutex);
    }
    return argument;
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%d", getpid());
    int file = shm_open(name, O_CREAT | O_RDWR | O_EXCL, 0600);
    MUST(file >= 0 && shm_unlink(name) == 0 && ftruncate(file, sizeof *shared) == 0);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < 3; i++) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        MUST(shared != MAP_FAILED && pthread_mutex_init(&shared->mutex, &attributes) == 0);
        crowd(3, work);
        printf("%d\n", shared->counter);
        MUST(munmap(shared, sizeof *shared) == 0);
    }
}
