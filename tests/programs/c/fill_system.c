// What the system tells of itself and of users, into memory of each thread's own, and one after another into the same.
#include <grp.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct utsname names;
static struct passwd user, *user_found;
static struct group group, *group_found;
static char text[4096], random_bytes[16];
static int right;

static void *work(void *argument) {
    for (int i = 0; i < 20; i++) {
        struct sysinfo information;
        struct rusage used;
        struct rlimit limit;
        char host[256];
        MUST(sysinfo(&information) == 0 && getrusage(RUSAGE_SELF, &used) == 0);
        MUST(getrlimit(RLIMIT_NOFILE, &limit) == 0 && gethostname(host, sizeof host) == 0);
        pthread_mutex_lock(&mutex);
        MUST(uname(&names) == 0 && getrandom(random_bytes, sizeof random_bytes, 0) == sizeof random_bytes);
        MUST(getpwuid_r(0, &user, text, sizeof text, &user_found) == 0);
        right += strcmp(user.pw_name, "root") == 0 && user_found == &user;
        MUST(getgrgid_r(0, &group, text, sizeof text, &group_found) == 0);
        right += strcmp(group.gr_name, "root") == 0 && strcmp(names.sysname, "Linux") == 0;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", right);
}
