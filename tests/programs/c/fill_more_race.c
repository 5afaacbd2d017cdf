// Rarer functions that read or fill what another thread uses: other names, other sizes.
// report: varies
// (Blocks are libc's, and places in them depend on what directories hold.)
// flags: -lrt
#include "../include/touch.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct rlimit64 limit;
static struct rlimit new_limit;
static char random_bytes[8], terminal_name[64];
static struct termios terminal, changed;
static struct statvfs64 vfs;
static struct statfs64 fs;
static struct dirent64 **list;
static struct dirent entry, *found;
static char file[] = "/tmp/deadheat-XXXXXX";
static struct mq_attr set = {.mq_flags = 0}, former;
static char read_bytes[4], written[4];
static sigset_t mask;
static glob64_t paths;
static struct timespec clock_time = {.tv_nsec = -1};
static DIR *stream;
static struct dirent64 *other_entry;

static void use(void) {
    turn(1);
    TOUCH(limit, 0); //~ RACE getrlimit64
    TOUCH(new_limit, 15); //~ RACE setrlimit
    TOUCH(random_bytes, 7); //~ RACE arc4random_buf
    TOUCH(terminal, 0); //~ RACE tcgetattr
    TOUCH(changed, 0); //~ RACE tcsetattr
    TOUCH(terminal_name, 0); //~ RACE ttyname_r
    TOUCH(vfs, 0); //~ RACE fstatvfs64
    TOUCH(fs, 0); //~ RACE fstatfs64
    TOUCH(list, 0); //~ RACE scandir64
    TOUCH(entry, 0); //~ RACE readdir_r
    other_entry->d_type = 0; //~ RACE readdir64
    file[sizeof file - 2] = 'X'; //~ RACE mkstemp64
    TOUCH(set, 0); //~ RACE mq_setattr
    TOUCH(former, 8); //~ RACE former
    TOUCH(read_bytes, 3); //~ RACE preadv64
    TOUCH(written, 0); //~ RACE pwritev64
    TOUCH(mask, 7); //~ RACE sigsuspend
    TOUCH(paths, 8); //~ RACE glob64
    TOUCH(clock_time, 0); //~ RACE clock_settime
    next_turn();
}

static void wake(int signal) {
    (void)signal;
}

static void functions(void) {
    turn(2);
    MUST(getrlimit64(RLIMIT_NOFILE, &limit) == 0); //~ RACE getrlimit64
    MUST(setrlimit(RLIMIT_CORE, &new_limit) == 0); //~ RACE setrlimit
    arc4random_buf(random_bytes, sizeof random_bytes); //~ RACE arc4random_buf
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    MUST(grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    MUST(tcgetattr(slave, &terminal) == 0); //~ RACE tcgetattr
    tcsetattr(slave, TCSANOW, &changed); //~ RACE tcsetattr
    MUST(ttyname_r(slave, terminal_name, sizeof terminal_name) == 0); //~ RACE ttyname_r
    MUST(fstatvfs64(slave, &vfs) == 0); //~ RACE fstatvfs64
    MUST(fstatfs64(slave, &fs) == 0); //~ RACE fstatfs64
    MUST(scandir64("/proc/self", &list, NULL, NULL) > 0); //~ RACE scandir64
    rewinddir(stream);
    MUST(readdir64(stream) == other_entry); //~ RACE readdir64
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    MUST(readdir_r(stream, &entry, &found) == 0); //~ RACE readdir_r
#pragma clang diagnostic pop
    int made = mkstemp64(file); //~ RACE mkstemp64
    struct iovec out = {written, 4}, in = {read_bytes, 4};
    MUST(pwritev64(made, &out, 1, 0) == 4); //~ RACE pwritev64
    MUST(preadv64(made, &in, 1, 0) == 4); //~ RACE preadv64
    MUST(unlink(file) == 0);
    char name[64];
    snprintf(name, sizeof name, "/deadheat-more-%d", getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, NULL);
    MUST(queue >= 0 && mq_unlink(name) == 0);
    MUST(mq_setattr(queue, &set, &former) == 0); //~ RACE mq_setattr former
    pthread_kill(pthread_self(), SIGUSR1);
    MUST(sigsuspend(&mask) != 0); //~ RACE sigsuspend
    MUST(glob64("/", 0, NULL, &paths) == 0); //~ RACE glob64
    // No such time.
    MUST(clock_settime(CLOCK_REALTIME, &clock_time) != 0); //~ RACE clock_settime
    next_turn();
}

int main(void) {
    stream = opendir("/proc/self");
    other_entry = readdir64(stream);
    signal(SIGUSR1, wake);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    together(use, functions);
}
