// Semaphores: wait, trywait, timedwait, clockwait; a named one.
#include "../include/threads.h"

#include <fcntl.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

sem_t empty, full;
sem_t *named;
int slot, sum;

static void wait(sem_t *semaphore, int i) {
    struct timespec deadline;
    clock_gettime(i % 4 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 100;
    switch (i % 4) {
    case 0: MUST(sem_wait(semaphore) == 0); break;
    case 1: MUST(sem_timedwait(semaphore, &deadline) == 0); break;
    case 2: MUST(sem_clockwait(semaphore, CLOCK_MONOTONIC, &deadline) == 0); break;
    case 3: while (sem_trywait(semaphore) != 0) sched_yield(); break;
    }
}

static void producer(void) {
    for (int i = 0; i < 100; i++) {
        wait(&empty, i);
        slot = i;
        sem_post(&full);
    }
    sem_wait(&empty);
    slot++;
    sem_post(named);
}

static void consumer(void) {
    for (int i = 0; i < 100; i++) {
        wait(&full, i);
        sum += slot;
        sem_post(&empty);
    }
    sem_wait(named);
    sum += slot;
}

int main(void) {
    sem_init(&empty, 0, 1);
    sem_init(&full, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "/semaphore-test-%d", getpid());
    named = sem_open(name, O_CREAT, 0600, 0);
    MUST(named != SEM_FAILED);
    sem_unlink(name);
    together(producer, consumer);
    printf("%d\n", sum);
    sem_close(named);
    sem_destroy(&full);
}
