// Two threads change the environment.
// report: varies
// (The variable is libc's own, and named as far as libc has debug information.)
#include "../include/threads.h"

static char setting[] = "DEADHEAT_PUT=1";

static void one(void) {
    putenv(setting); //~ RACE environment
    invisible_post();
}

static void two(void) {
    invisible_wait(1);
    unsetenv("DEADHEAT_PUT"); //~ RACE environment
}

int main(void) {
    together(one, two);
}
