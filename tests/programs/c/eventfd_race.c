// What a thread writes after it has posted an eventfd is not ordered by that.
#include "../include/threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

static int before, after, file;
static eventfd_t value;

static void sender(void) {
    before = 1;
    MUST(eventfd_write(file, 1) == 0);
    turn(1);
    after = 1; //~ RACE after
    value = 1; //~ RACE value
    next_turn();
}

static void receiver(void) {
    turn(2);
    MUST(eventfd_read(file, &value) == 0); //~ RACE value
    printf("%d ", before);
    printf("%d\n", after); //~ RACE after
    next_turn();
}

int main(void) {
    file = eventfd(0, EFD_SEMAPHORE);
    together(sender, receiver);
}
