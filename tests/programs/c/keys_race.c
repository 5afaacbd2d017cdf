// A destructor's write is as unordered as any other of the thread.
#include "../include/threads.h"

pthread_key_t key;
int destroyed;

static void destroy(void *value) {
    destroyed = 1; //~ RACE destroyed
    next_turn();
}

static void body(void) {
    pthread_setspecific(key, &key);
}

int main(void) {
    pthread_key_create(&key, destroy);
    pthread_t thread = start(body);
    turn(2);
    printf("%d\n", destroyed); //~ RACE destroyed
    join(thread);
}
