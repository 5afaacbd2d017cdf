// Two semaphores with names: what one orders, the other does not.
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include "../include/threads.h"

static sem_t *one, *other;
static int data;

static void writer(void) {
    turn(1);
    data = 1; //~ RACE data
    MUST(sem_post(one) == 0);
    next_turn();
}

static void reader(void) {
    turn(2);
    MUST(sem_wait(other) == 0);
    printf("%d\n", data); //~ RACE data
    next_turn();
}

static sem_t *make(const char *what) {
    char name[64];
    snprintf(name, sizeof name, "/deadheat-%s-%d", what, (int)getpid());
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    MUST(semaphore != SEM_FAILED && sem_unlink(name) == 0);
    return semaphore;
}

int main(void) {
    one = make("one");
    other = make("other");
    together(writer, reader);
}
