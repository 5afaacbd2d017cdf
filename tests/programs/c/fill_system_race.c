// What the system tells of itself and of users goes where another thread looks.
// orders: both
#include <grp.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../include/touch.h"

static struct utsname names;
static struct sysinfo information;
static struct rusage used;
static struct rlimit limit;
static double load[3];
static char host[256], domain[256], random_bytes[16], entropy[16];
static struct passwd user, named;
static struct group group, other_group;
static char user_text[4096], named_text[4096], group_text[4096], other_text[4096];
static struct passwd *user_found, *named_found;
static struct group *group_found, *other_found;

static void functions(void) {
    turn(1);
    uname(&names); //~ RACE uname
    sysinfo(&information); //~ RACE sysinfo
    getrusage(RUSAGE_SELF, &used); //~ RACE getrusage
    getrlimit(RLIMIT_NOFILE, &limit); //~ RACE getrlimit
    getloadavg(load, 3); //~ RACE getloadavg
    gethostname(host, sizeof host); //~ RACE gethostname
    getdomainname(domain, sizeof domain); //~ RACE getdomainname
    getrandom(random_bytes, sizeof random_bytes, 0); //~ RACE getrandom
    getentropy(entropy, sizeof entropy); //~ RACE getentropy
    getpwuid_r(0, &user, user_text, sizeof user_text, &user_found); //~ RACE getpwuid_r user_text user_found
    getpwnam_r("root", &named, named_text, sizeof named_text, &named_found); //~ RACE getpwnam_r named_text
    getgrgid_r(0, &group, group_text, sizeof group_text, &group_found); //~ RACE getgrgid_r group_text
    getgrnam_r("root", &other_group, other_text, sizeof other_text, &other_found); //~ RACE getgrnam_r
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(names, 0); //~ RACE uname
    TOUCH(information, 8); //~ RACE sysinfo
    TOUCH(used, 16); //~ RACE getrusage
    TOUCH(limit, 15); //~ RACE getrlimit
    TOUCH(load, 23); //~ RACE getloadavg
    TOUCH(host, 0); //~ RACE gethostname
    TOUCH(domain, 0); //~ RACE getdomainname
    TOUCH(random_bytes, 15); //~ RACE getrandom
    TOUCH(entropy, 0); //~ RACE getentropy
    TOUCH(user, 0); //~ RACE getpwuid_r
    TOUCH(user_text, 1); //~ RACE user_text
    TOUCH(user_found, 0); //~ RACE user_found
    TOUCH(named, 47); //~ RACE getpwnam_r
    TOUCH(named_text, 1); //~ RACE named_text
    TOUCH(group, 0); //~ RACE getgrgid_r
    TOUCH(group_text, 1); //~ RACE group_text
    TOUCH(other_found, 0); //~ RACE getgrnam_r
    next_turn();
}

int main(void) {
    together(functions, use);
}
