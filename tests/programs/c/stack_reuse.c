// A frame is gone when its function returns; what comes to lie there is not ordered with who used the old variable,
// unless, as here, he told before that he is done.
#include "../include/threads.h"

#include <semaphore.h>

enum { SIZE = 4096 };

sem_t there, done;
char *shared;
long sum;

__attribute__((noinline)) static void lend(void) {
    char buffer[SIZE];
    memset(buffer, 1, SIZE);
    shared = buffer;
    sem_post(&there);
    sem_wait(&done);
}

__attribute__((noinline)) static void overwrite(void) {
    char buffer[SIZE];
    memset(buffer, 2, SIZE);
    sum += buffer[7];
}

static void owner(void) {
    for (int i = 0; i < 50; i++) {
        lend();
        overwrite();
    }
}

static void user(void) {
    for (int i = 0; i < 50; i++) {
        sem_wait(&there);
        memset(shared, 3, SIZE);
        sem_post(&done);
    }
}

int main(void) {
    sem_init(&there, 0, 0);
    sem_init(&done, 0, 0);
    together(owner, user);
    printf("%ld\n", sum);
}
