// The same addresses are mapped, used and unmapped by threads that nothing orders; also moved and mapped over.
#include "../include/threads.h"

#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 16 };

char *place;

static char *map(char *address, int flags) {
    char *got = mmap(address, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    MUST(got != MAP_FAILED);
    return got;
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    // Mapped over whatever is there.
    char *mine = map(place, MAP_FIXED);
    memset(mine, n, PAGES * PAGE);
    // Moved away and back: the new place is fresh each time.
    char *away = mremap(mine, PAGES * PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE);
    MUST(away != MAP_FAILED && away[PAGE] == n);
    away[2 * PAGES * PAGE - 1] = 1;
    munmap(away, 2 * PAGES * PAGE);
    map(place, MAP_FIXED)[7] = 1;
    next_turn();
    return NULL;
}

int main(void) {
    place = mmap(NULL, 4 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(place != MAP_FAILED);
    crowd(8, body);
    printf("%d\n", place[7]);
}
