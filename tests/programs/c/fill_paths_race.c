// Paths, lists of files and pairs of descriptors go where another thread looks.
// report: varies
// (Blocks are libc's, and places in them depend on what directories hold.)
#include "../include/touch.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

static char here[PATH_MAX], real[PATH_MAX], link_text[PATH_MAX], other_link[PATH_MAX];
static char file[] = "/tmp/deadheat-XXXXXX", more[] = "/tmp/deadheat-XXXXXX", directory[] = "/tmp/deadheat-XXXXXX";
static struct dirent **list;
static int ends[2], more_ends[2], sockets[2];
static DIR *stream;
static struct dirent *entry;

static void use(void) {
    turn(1);
    TOUCH(here, 0); //~ RACE getcwd
    TOUCH(real, 1); //~ RACE realpath
    TOUCH(link_text, 0); //~ RACE readlink
    TOUCH(other_link, 0); //~ RACE readlinkat
    file[sizeof file - 2] = 'X'; //~ RACE mkstemp
    more[sizeof more - 7] = 'X'; //~ RACE mkostemp
    directory[sizeof directory - 2] = 'X'; //~ RACE mkdtemp
    TOUCH(list, 0); //~ RACE scandir
    TOUCH(ends, 7); //~ RACE pipe
    TOUCH(more_ends, 0); //~ RACE pipe2
    TOUCH(sockets, 7); //~ RACE socketpair
    rewinddir(stream);
    entry->d_type = 0; //~ RACE readdir
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(getcwd(here, sizeof here)); //~ RACE getcwd
    MUST(realpath("/", real)); //~ RACE realpath
    MUST(readlink("/proc/self", link_text, sizeof link_text) > 0); //~ RACE readlink
    MUST(readlinkat(AT_FDCWD, "/proc/self", other_link, sizeof other_link) > 0); //~ RACE readlinkat
    int one = mkstemp(file); //~ RACE mkstemp
    int two = mkostemp(more, O_CLOEXEC); //~ RACE mkostemp
    MUST(mkdtemp(directory)); //~ RACE mkdtemp
    int count = scandir("/proc/self", &list, NULL, NULL); //~ RACE scandir
    MUST(pipe(ends) == 0); //~ RACE pipe
    MUST(pipe2(more_ends, O_CLOEXEC) == 0); //~ RACE pipe2
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0); //~ RACE socketpair
    MUST(readdir(stream) == entry); //~ RACE readdir
    MUST(count > 2 && one >= 0 && two >= 0 && unlink(file) == 0 && unlink(more) == 0 && rmdir(directory) == 0);
    next_turn();
}

int main(void) {
    stream = opendir("/proc/self");
    entry = readdir(stream);
    together(use, functions);
}
