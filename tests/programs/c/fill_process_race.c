// How a child ended, and which child there is, goes where another thread looks.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../include/touch.h"

extern char **environ;
static int status, chosen, counted;
static siginfo_t info;
static struct rusage used;
static pid_t spawned, found;

static void use(void) {
    turn(1);
    TOUCH(spawned, 0); //~ RACE posix_spawn
    TOUCH(found, 0); //~ RACE posix_spawnp
    TOUCH(status, 0); //~ RACE wait
    TOUCH(chosen, 3); //~ RACE waitpid
    TOUCH(counted, 0); //~ RACE wait4
    TOUCH(used, 0); //~ RACE used
    TOUCH(info, 0); //~ RACE waitid
    next_turn();
}

static void functions(void) {
    turn(2);
    char *words[] = {"true", NULL};
    pid_t other;
    MUST(posix_spawn(&spawned, "/bin/true", NULL, NULL, words, environ) == 0); //~ RACE posix_spawn
    MUST(wait(&status) > 0); //~ RACE wait
    MUST(posix_spawnp(&found, "true", NULL, NULL, words, environ) == 0); //~ RACE posix_spawnp
    MUST(waitpid(found, &chosen, 0) > 0); //~ RACE waitpid
    MUST(posix_spawnp(&other, "true", NULL, NULL, words, environ) == 0);
    MUST(wait4(other, &counted, 0, &used) > 0); //~ RACE wait4 used
    MUST(posix_spawnp(&other, "true", NULL, NULL, words, environ) == 0);
    MUST(waitid(P_PID, (id_t)other, &info, WEXITED) == 0); //~ RACE waitid
    next_turn();
}

int main(void) {
    together(use, functions);
}
