// A mapping where another was is new, and races by itself: what was there before does not count.
// report: varies
// (The kernel makes one mapping of neighbours, so the size of what is named depends on what lies beside it.)
// orders: both
#include "../include/threads.h"

#include <sys/mman.h>

static int *place;

static void map_again(void) {
    MUST(munmap(place, 4096) == 0);
    void *at = mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    MUST(at == place);
}

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    *place += 1; //~ RACE place
    next_turn();
    return argument;
}

int main(void) {
    place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(place != MAP_FAILED);
    *place = 1;
    map_again();
    crowd(2, work);
    printf("%d\n", *place);
}
