// Threads take turns by semaphores of System V: one as a lock, one as a signal.
#include "../include/threads.h"

#include <sys/ipc.h>
#include <sys/sem.h>

enum { LOCK, READY, ROUNDS = 100 };

static int set, counter, slots[ROUNDS];

static void change(int number, int by) {
    struct sembuf operation = {.sem_num = number, .sem_op = by};
    MUST(semop(set, &operation, 1) == 0);
}

static void count(void) {
    change(LOCK, -1);
    counter++;
    change(LOCK, 1);
}

static void gives(void) {
    for (int i = 0; i < ROUNDS; i++) {
        slots[i] = i;
        change(READY, 1);
        count();
    }
}

static void takes(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        change(READY, -1);
        sum += slots[i];
        count();
    }
    printf("%d\n", sum);
}

int main(void) {
    set = semget(IPC_PRIVATE, 2, 0600);
    MUST(set >= 0 && semctl(set, LOCK, SETVAL, 1) == 0 && semctl(set, READY, SETVAL, 0) == 0);
    together(gives, takes);
    semctl(set, 0, IPC_RMID);
    printf("%d\n", counter);
}
