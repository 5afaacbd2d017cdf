// Many longjmps, with all variants, from under locks that are given back; nothing piles up.
#include "../include/threads.h"

#include <setjmp.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

__attribute__((noinline)) static void deep(jmp_buf back, int depth) {
    if (depth == 0) {
        pthread_mutex_lock(&mutex);
        counter++;
        longjmp(back, 1);
    }
    deep(back, depth - 1);
    counter--;
}

static void *body(void *unused) {
    for (volatile int i = 0; i < 200; i++) {
        jmp_buf back;
        sigjmp_buf signals_too;
        if (setjmp(back) == 0) {
            deep(back, 5);
        }
        counter++;
        pthread_mutex_unlock(&mutex);
        if (sigsetjmp(signals_too, 1) == 0) {
            siglongjmp(signals_too, 1);
        }
    }
    return NULL;
}

int main(void) {
    crowd(4, body);
    printf("%d\n", counter);
}
