// Sorting and searching in what another thread uses.
// orders: both
#include "../include/touch.h"

#include <search.h>

static int sorted[8] = {2, 1, 4, 3}, by_r[8] = {2, 1}, list[8] = {1, 2}, three = 3, one = 1;
static size_t count = 2, searched = 2, looked = 2;
static void *tree, *other;

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static int compare_r(const void *a, const void *b, void *more) {
    return more ? 0 : compare(a, b);
}

static int same(const void *a, const void *b) {
    return a != b;
}

static void functions(void) {
    turn(1);
    qsort(sorted, 4, sizeof *sorted, compare); //~ RACE qsort
    qsort_r(by_r, 2, sizeof *by_r, compare_r, NULL); //~ RACE qsort_r
    lsearch(&three, list, &count, sizeof *list, same); //~ RACE lsearch added
    size_t size = sizeof *list;
    int *found = lfind(&one, sorted + 4, &looked, size, same); //~ RACE lfind
    tsearch(&one, &tree, compare); //~ RACE tsearch
    found = tfind(&one, &other, same); //~ RACE tfind
    MUST(!found);
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(sorted[3], 3); //~ RACE qsort
    TOUCH(by_r, 0); //~ RACE qsort_r
    count = searched; //~ RACE lsearch
    list[2] = 0; //~ RACE added
    looked = 2; //~ RACE lfind
    tree = NULL; //~ RACE tsearch
    other = NULL; //~ RACE tfind
    next_turn();
}

int main(void) {
    together(functions, use);
}
