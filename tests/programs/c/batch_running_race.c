// A loop that goes on for as long as the program does: the race is found by a batch, in the middle of it.
// flags: -O2
#include "../include/threads.h"

#include <sys/mman.h>
#include <unistd.h>

enum { EARLY = 5 };

// Far more than is ever filled, and no memory until it is.
static const size_t LENGTH = 1UL << 36;
volatile long end;
long *numbers;

static void *fill(void *unused) {
    long *at = numbers;
    for (long i = 0; i < end; i++) at[i] = i + 1; //~ RACE number
    return unused;
}

int main(void) {
    end = LENGTH / sizeof *numbers;
    numbers = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MUST(numbers != MAP_FAILED);
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, fill, NULL) == 0);
    // Until a few batches are over; no detector sees this look.
    for (long seen = 0; seen == 0;) {
        __asm__ volatile("movq (%1), %0" : "=r"(seen) : "r"(numbers + 4096) : "memory");
    }
    puts("running");
    fflush(stdout);
    numbers[EARLY] = 0; //~ RACE number
    _exit(0);
}
