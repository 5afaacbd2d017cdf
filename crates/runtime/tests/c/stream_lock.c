// flockfile orders like a lock.
#include <pthread.h>
#include <stdio.h>

static int data;

static void *body(void *unused) {
    for (int i = 0; i < 100; i++) {
        flockfile(stdout);
        data++;
        funlockfile(stdout);
        while (ftrylockfile(stdout) != 0) {
        }
        data++;
        funlockfile(stdout);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int n = 0; n < 2; n++) pthread_create(&threads[n], NULL, body, NULL);
    for (int n = 0; n < 2; n++) pthread_join(threads[n], NULL);
    printf("%d\n", data);
}
