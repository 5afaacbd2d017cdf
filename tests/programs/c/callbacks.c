// Functions of libc that call back: qsort, bsearch, tsearch. Each thread has its own data, the comparison a counter for each.
#include <search.h>

#include "../include/threads.h"

enum { COUNT = 500 };

static _Thread_local int calls;
static int sums[4];

static int compare(const void *a, const void *b) {
    calls++;
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void *work(void *argument) {
    long me = (long)argument;
    int *numbers = malloc(COUNT * sizeof *numbers);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (int)((i * 7919L + me) % COUNT);
    }
    qsort(numbers, COUNT, sizeof *numbers, compare);
    void *tree = NULL;
    for (int i = 0; i < COUNT; i++) {
        int *found = bsearch(&numbers[i], numbers, COUNT, sizeof *numbers, compare);
        sums[me] += *found == numbers[i];
        tsearch(&numbers[i], &tree, compare);
    }
    while (tree) {
        tdelete(*(int **)tree, &tree, compare);
    }
    free(numbers);
    return argument;
}

int main(void) {
    crowd(4, work);
    printf("%d %d %d\n", sums[0], sums[3], calls);
}
