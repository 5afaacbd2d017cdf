// Threads wait for children that they spawned with file actions and attributes. That orders the threads in nothing.
#include "../include/threads.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int words;

static void spawn(void) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    MUST(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    char *line[] = {"echo", "word", NULL};
    pid_t child;
    MUST(posix_spawnp(&child, "echo", &actions, &attributes, line, environ) == 0);
    MUST(waitpid(child, NULL, 0) == child);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
}

static void one(void) {
    turn(1);
    spawn();
    words++; //~ RACE words
    next_turn();
}

static void two(void) {
    turn(2);
    spawn();
    words++; //~ RACE words
}

int main(void) {
    together(one, two);
    printf("%d\n", words);
}
