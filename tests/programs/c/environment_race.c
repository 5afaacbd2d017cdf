// One thread looks into the environment while another changes it.
// report: varies
// (The variable is libc's own, and named as far as libc has debug information.)
// (Turns look into it as well: here there are none.)
#include "../include/threads.h"

static void changes(void) {
    setenv("DEADHEAT_TEST", "1", 1); //~ RACE environment
    invisible_post();
}

static void looks(void) {
    invisible_wait(1);
    char *found = getenv("PATH"); //~ RACE environment
    MUST(found);
}

int main(void) {
    together(changes, looks);
}
