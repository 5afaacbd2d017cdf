// What is told of files goes where another thread looks; in both orders, and by the names for large files.
// orders: both
#include "../include/touch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

static struct stat a, b, c, d;
static struct stat64 e, f, g, h;
static struct statvfs i, j;
static struct statvfs64 k;
static struct statfs l, m;
static struct statfs64 n;
static struct statx o;
static char path[8] = "/";

static void functions(void) {
    turn(1);
    stat("/", &a); //~ RACE stat
    lstat("/", &b); //~ RACE lstat
    fstat(0, &c); //~ RACE fstat
    fstatat(AT_FDCWD, "/", &d, 0); //~ RACE fstatat
    stat64("/", &e); //~ RACE stat64
    lstat64("/", &f); //~ RACE lstat64
    fstat64(0, &g); //~ RACE fstat64
    fstatat64(AT_FDCWD, "/", &h, 0); //~ RACE fstatat64
    statvfs("/", &i); //~ RACE statvfs
    fstatvfs(0, &j); //~ RACE fstatvfs
    statvfs64("/", &k); //~ RACE statvfs64
    statfs("/", &l); //~ RACE statfs
    fstatfs(0, &m); //~ RACE fstatfs
    statfs64("/", &n); //~ RACE statfs64
    statx(AT_FDCWD, path, 0, STATX_SIZE, &o); //~ RACE statx path
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(a, 0); //~ RACE stat
    TOUCH(b, 48); //~ RACE lstat
    TOUCH(c, 0); //~ RACE fstat
    TOUCH(d, 24); //~ RACE fstatat
    TOUCH(e, 0); //~ RACE stat64
    TOUCH(f, 0); //~ RACE lstat64
    TOUCH(g, 0); //~ RACE fstat64
    TOUCH(h, 0); //~ RACE fstatat64
    TOUCH(i, 0); //~ RACE statvfs
    TOUCH(j, 0); //~ RACE fstatvfs
    TOUCH(k, 0); //~ RACE statvfs64
    TOUCH(l, 0); //~ RACE statfs
    TOUCH(m, 0); //~ RACE fstatfs
    TOUCH(n, 0); //~ RACE statfs64
    TOUCH(o, 0); //~ RACE statx
    TOUCH(path, 1); //~ RACE path
    next_turn();
}

int main(void) {
    together(functions, use);
}
