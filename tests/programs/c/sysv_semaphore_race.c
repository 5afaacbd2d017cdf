// What a thread does after it has raised a semaphore of System V is not ordered before what the waiting thread does.
#include "../include/threads.h"

#include <sys/ipc.h>
#include <sys/sem.h>

static int set, before, after;

static void change(int by) {
    struct sembuf operation = {.sem_op = by};
    MUST(semop(set, &operation, 1) == 0);
}

static void gives(void) {
    before = 1;
    change(1);
    turn(1);
    after = 1; //~ RACE after
    next_turn();
}

static void takes(void) {
    change(-1);
    turn(2);
    printf("%d %d\n", before, after); //~ RACE after
}

int main(void) {
    set = semget(IPC_PRIVATE, 1, 0600);
    MUST(set >= 0 && semctl(set, 0, SETVAL, 0) == 0);
    together(gives, takes);
    semctl(set, 0, IPC_RMID);
}
