// Races in mapped memory: anonymous, of a file, and after it was moved by mremap.
// report: varies
// (The kernel makes one mapping of neighbours, so the size of what is named depends on what lies beside it.)
// orders: both
#include "../include/threads.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

char *anonymous, *file, *moved;

static void one(void) {
    turn(1);
    anonymous[100] = 1; //~ RACE anonymous
    file[100] = 1; //~ RACE file
    moved[5 * PAGE] = 1; //~ RACE moved
    next_turn();
}

static void two(void) {
    turn(2);
    anonymous[100] = 2; //~ RACE anonymous
    file[100] = 2; //~ RACE file
    moved[5 * PAGE] = 2; //~ RACE moved
    next_turn();
}

int main(void) {
    anonymous = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int descriptor = memfd_create("map", 0);
    MUST(ftruncate(descriptor, PAGE) == 0);
    file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    moved = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(anonymous != MAP_FAILED && file != MAP_FAILED && moved != MAP_FAILED);
    moved = mremap(moved, PAGE, 8 * PAGE, MREMAP_MAYMOVE);
    MUST(moved != MAP_FAILED);
    together(one, two);
    printf("%d %d %d\n", anonymous[100], file[100], moved[5 * PAGE]);
}
