#include "race.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// files HOW: closes descriptors, or takes all there are, and races then.
int main(int count, char **arguments) {
    switch (count < 2 ? 0 : *arguments[1]) {
    case 'c': // one by one, as daemons do
        for (int fd = 3; fd < 2000; fd++)
            close(fd);
        break;
    case 'r':
        close_range(3, ~0u, 0);
        break;
    case 'f':
        closefrom(3);
        break;
    case 'd': // over them, with a file of its own
        for (int fd = 3; fd < 1000; fd++)
            dup2(0, fd);
        break;
    case 's': // where nobody sees it
        for (int fd = 3; fd < 2000; fd++)
            syscall(SYS_close, fd);
        break;
    case '2':
        close(2);
        break;
    case 'u':
    case 'h': {
        struct rlimit limit;
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = 64;
        if (*arguments[1] == 'h')
            limit.rlim_max = 64;
        setrlimit(RLIMIT_NOFILE, &limit);
        while (open("/dev/null", O_RDONLY) >= 0)
            ;
        race();
        printf("%s\n", open("/dev/null", O_RDONLY) < 0 ? "still none" : "one too many");
        return 4;
    }
    }
    race();
    puts("done");
    return 4;
}
