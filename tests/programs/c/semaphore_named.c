// A semaphore with a name, opened twice: both are one.
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include "../include/threads.h"

static char name[64];
static int data;

static void writer(void) {
    sem_t *semaphore = sem_open(name, 0);
    MUST(semaphore != SEM_FAILED);
    data = 1;
    MUST(sem_post(semaphore) == 0);
    MUST(sem_close(semaphore) == 0);
}

static void reader(void) {
    sem_t *semaphore = sem_open(name, 0);
    MUST(semaphore != SEM_FAILED);
    MUST(sem_wait(semaphore) == 0);
    printf("%d\n", data);
    MUST(sem_close(semaphore) == 0);
}

int main(void) {
    snprintf(name, sizeof name, "/deadheat-%d", (int)getpid());
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    MUST(semaphore != SEM_FAILED);
    together(writer, reader);
    MUST(sem_close(semaphore) == 0 && sem_unlink(name) == 0);
}
