// Functions of <time.h> fill what another thread uses.
// orders: both
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "../include/touch.h"

static time_t now, later = 1;
static struct timeval moment;
static struct timespec exact, step, standard;
static struct tms used;
static struct tm local, utc, parts = {.tm_mday = 1}, more = {.tm_mday = 1};
static const struct tm known = {.tm_mday = 1};
static char c_time[26], as_text[26], formed[32];

static void functions(void) {
    turn(1);
    time(&now); //~ RACE time
    gettimeofday(&moment, NULL); //~ RACE gettimeofday
    clock_gettime(CLOCK_MONOTONIC, &exact); //~ RACE clock_gettime
    clock_getres(CLOCK_MONOTONIC, &step); //~ RACE clock_getres
    timespec_get(&standard, TIME_UTC); //~ RACE timespec_get
    times(&used); //~ RACE times
    localtime_r(&later, &local); //~ RACE localtime_r later
    const time_t zero = 0;
    gmtime_r(&zero, &utc); //~ RACE gmtime_r
    ctime_r(&zero, c_time); //~ RACE ctime_r
    asctime_r(&known, as_text); //~ RACE asctime_r
    mktime(&parts); //~ RACE mktime
    timegm(&more); //~ RACE timegm
    strftime(formed, sizeof formed, "%Y-%m-%d", &known); //~ RACE strftime
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(now, 7); //~ RACE time
    TOUCH(moment, 8); //~ RACE gettimeofday
    TOUCH(exact, 15); //~ RACE clock_gettime
    TOUCH(step, 8); //~ RACE clock_getres
    TOUCH(standard, 0); //~ RACE timespec_get
    TOUCH(used, 31); //~ RACE times
    TOUCH(local, 0); //~ RACE localtime_r
    TOUCH(later, 0); //~ RACE later
    TOUCH(utc, 55); //~ RACE gmtime_r
    TOUCH(c_time, 25); //~ RACE ctime_r
    TOUCH(as_text, 0); //~ RACE asctime_r
    TOUCH(parts, 24); //~ RACE mktime
    TOUCH(more, 24); //~ RACE timegm
    TOUCH(formed, 10); //~ RACE strftime
    // Behind its end nothing was written.
    TOUCH(formed, 11);
    next_turn();
}

int main(void) {
    together(functions, use);
}
