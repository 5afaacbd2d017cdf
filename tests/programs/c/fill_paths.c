// Paths and lists of files in memory that threads hand on; each thread reads a directory of its own.
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../include/threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char path[PATH_MAX];
static struct stat status;
static int right;

static int dots(const struct dirent *entry) {
    return entry->d_name[0] == '.';
}

static void *work(void *argument) {
    for (int i = 0; i < 20; i++) {
        DIR *stream = opendir("/proc/self");
        int seen = 0;
        for (struct dirent *entry; (entry = readdir(stream));) {
            seen += strcmp(entry->d_name, "status") == 0;
        }
        closedir(stream);
        struct dirent **list;
        int count = scandir("/proc/self", &list, dots, alphasort);
        for (int n = 0; n < count; n++) {
            free(list[n]);
        }
        free(list);
        pthread_mutex_lock(&mutex);
        MUST(getcwd(path, sizeof path) && stat(path, &status) == 0);
        right += seen == 1 && count == 2 && S_ISDIR(status.st_mode);
        MUST(realpath("/proc/..", path) == path && strcmp(path, "/") == 0);
        long len = readlink("/proc/self", path, sizeof path);
        right += len > 0;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", right);
}
