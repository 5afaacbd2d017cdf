// Functions of <time.h> fill objects that threads hand on under a lock.
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static time_t now;
static struct timeval moment;
static struct timespec exact;
static struct tms used;
static struct tm parts;
static char text[64];
static int right;

static void *work(void *argument) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        right += now >= 0 && moment.tv_usec >= 0 && exact.tv_nsec >= 0 && used.tms_utime >= 0;
        time(&now);
        gettimeofday(&moment, NULL);
        clock_gettime(CLOCK_REALTIME, &exact);
        times(&used);
        MUST(localtime_r(&now, &parts) == &parts && mktime(&parts) == now);
        MUST(gmtime_r(&now, &parts) == &parts && timegm(&parts) == now);
        right += strftime(text, sizeof text, "%H", &parts) == 2;
        MUST(ctime_r(&now, text) == text && strlen(text) == 25);
        // One object for all threads, so it is used under the lock as well.
        right += localtime(&now)->tm_mon < 12 && strlen(asctime(&parts)) == 25;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", right);
}
