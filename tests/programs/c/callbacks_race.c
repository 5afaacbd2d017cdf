// A comparison that qsort calls counts in one variable for all threads.
#include "../include/threads.h"

static int calls;

static int compare(const void *a, const void *b) {
    calls++; //~ RACE calls
    return *(const int *)a - *(const int *)b;
}

static void *work(void *argument) {
    turn((int)(long)argument + 1);
    int numbers[2] = {2, 1};
    qsort(numbers, 2, sizeof *numbers, compare);
    next_turn();
    return argument;
}

int main(void) {
    crowd(2, work);
    printf("%d\n", calls);
}
