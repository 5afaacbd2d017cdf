// A function that walks through a tree, or compares for a search, races with another thread.
#include "../include/threads.h"

#include <search.h>

static void *tree;
static int numbers[3] = {1, 2, 3}, sum, looked_at;

static int compare(const void *a, const void *b) {
    looked_at = *(const int *)b; //~ RACE search
    return *(const int *)a - *(const int *)b;
}

static int plain(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void walk(const void *node, VISIT which, int depth) {
    if (which == leaf && depth > 0) {
        sum += **(int *const *)node; //~ RACE walk
    }
}

static void walks(void) {
    turn(1);
    twalk(tree, walk);
    int key = 2;
    MUST(bsearch(&key, numbers, 3, sizeof *numbers, compare));
    next_turn();
}

static void uses(void) {
    turn(2);
    printf("%d ", sum); //~ RACE walk
    printf("%d\n", looked_at); //~ RACE search
    next_turn();
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        MUST(tsearch(&numbers[i], &tree, plain));
    }
    together(walks, uses);
}
