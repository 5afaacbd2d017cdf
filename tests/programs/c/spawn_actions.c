// posix_spawn with file actions and attributes; what the child prints comes through a pipe.
#include "../include/threads.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int words;

static void *work(void *argument) {
    for (int i = 0; i < 3; i++) {
        int ends[2];
        MUST(pipe(ends) == 0);
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none;
        sigemptyset(&none);
        MUST(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        char *line[] = {"echo", "word", NULL};
        pid_t child;
        MUST(posix_spawnp(&child, "echo", &actions, &attributes, line, environ) == 0);
        close(ends[1]);
        char text[16] = "";
        ssize_t len = 0, got;
        while ((got = read(ends[0], text + len, sizeof text - len)) > 0) {
            len += got;
        }
        close(ends[0]);
        // Another thread's child may have held the other end for a while, but the word is there.
        MUST(waitpid(child, NULL, 0) == child && strncmp(text, "word\n", 5) == 0);
        pthread_mutex_lock(&mutex);
        words++;
        pthread_mutex_unlock(&mutex);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", words);
}
