// Functions that answer with an object that all threads share.
// report: varies
// (The results are libc's own, and named as far as libc has debug information.)
#include <time.h>

#include "../include/threads.h"

static const time_t zero;
static const struct tm parts = {.tm_mday = 1};

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    localtime(&zero); //~ RACE localtime
    next_turn();
    turn((int)(long)argument + 3);
    asctime(&parts); //~ RACE asctime
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
}
