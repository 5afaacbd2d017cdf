// What each round reads the optimiser reads anew where the loop has called something; if the loop is then left, the program does not.
// flags: -O2
#include "../include/threads.h"

#include <semaphore.h>

int limit = 1;
static sem_t done;
static volatile int rounds = 40, leave = 1;

static __attribute__((noinline)) void hand_over(void) {
    sem_post(&done);
    turn(2);
}

static __attribute__((noinline)) int add(int n) {
    int sum = 0;
    for (int i = 0;; i++) {
        sum += limit;
        if (__builtin_expect(i == n, 0)) {
            hand_over();
            if (leave) {
                break;
            }
        } else if (i == 1000) {
            break;
        }
    }
    return sum;
}

static void reader(void) {
    printf("%d\n", add(rounds));
}

static void writer(void) {
    sem_wait(&done);
    turn(1);
    limit = 5;
    next_turn();
}

int main(void) {
    sem_init(&done, 0, 0);
    together(reader, writer);
    printf("%d\n", limit);
}
