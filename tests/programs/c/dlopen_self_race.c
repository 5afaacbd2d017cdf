// A function that was found by name races like one that was not.
// flags: -rdynamic
// orders: both
#include "../include/threads.h"

#include <dlfcn.h>

int shared_counter;

void count(void) {
    shared_counter++; //~ RACE counter
}

static void *work(void *argument) {
    void *self = dlopen(NULL, RTLD_NOW);
    void (*found)(void) = (void (*)(void))dlsym(self, "count");
    turn((int)(long)argument + 1);
    found();
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", shared_counter);
}
