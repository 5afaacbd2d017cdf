// The post comes too early, and a try that found nothing.
#include "../include/threads.h"

#include <semaphore.h>

sem_t semaphore, other;
int early, tried;

static void writer(void) {
    sem_post(&semaphore);
    early = 1; //~ RACE early
    tried = 1; //~ RACE tried
    next_turn();
    turn(3);
    sem_post(&other);
}

static void reader(void) {
    sem_wait(&semaphore);
    turn(2);
    int sum = early; //~ RACE early
    MUST(sem_trywait(&other) != 0);
    sum += tried; //~ RACE tried
    printf("%d\n", sum);
    next_turn();
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    sem_init(&other, 0, 0);
    together(writer, reader);
}
