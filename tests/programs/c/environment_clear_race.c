// One thread empties the environment in which another looks.
// report: varies
// (The variable is libc's own, and named as far as libc has debug information.)
#include "../include/threads.h"

static void looks(void) {
    char *found = secure_getenv("PATH"); //~ RACE environment
    invisible_post();
    MUST(found);
}

static void clears(void) {
    invisible_wait(1);
    clearenv(); //~ RACE environment
}

int main(void) {
    together(looks, clears);
}
