// Trees, tables and lists of the C library, with comparisons of the program's, handed from thread to thread under a lock.
#include "../include/threads.h"

#include <search.h>

enum { WORDS = 60 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *tree;
static int numbers[WORDS], calls, walked, list[WORDS];
static size_t listed;
static char names[WORDS][8];
static struct hsearch_data table;

static int compare(const void *a, const void *b) {
    calls++;
    return *(const int *)a - *(const int *)b;
}

static void walk(const void *node, VISIT which, int depth) {
    (void)depth;
    if (which == leaf || which == postorder) {
        walked += **(int *const *)node;
    }
}

static void *work(void *argument) {
    for (int i = (int)(long)argument; i < WORDS; i += 3) {
        pthread_mutex_lock(&mutex);
        numbers[i] = i;
        MUST(tsearch(&numbers[i], &tree, compare) && tfind(&numbers[i], &tree, compare));
        ENTRY item = {names[i], &numbers[i]}, *found;
        sprintf(names[i], "n%d", i);
        MUST(hsearch_r(item, ENTER, &found, &table));
        MUST(hsearch_r(item, FIND, &found, &table) && found->data == &numbers[i]);
        MUST(lsearch(&i, list, &listed, sizeof *list, compare) && lfind(&i, list, &listed, sizeof *list, compare));
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void) {
    MUST(hcreate_r(2 * WORDS, &table));
    crowd(3, work);
    twalk(tree, walk);
    qsort(list, listed, sizeof *list, compare);
    int key = 7;
    MUST(bsearch(&key, list, listed, sizeof *list, compare) == &list[7]);
    printf("%d %zu %d\n", walked, listed, calls > 0);
    for (int i = 0; i < WORDS; i++) {
        tdelete(&numbers[i], &tree, compare);
    }
    MUST(!tree);
    hdestroy_r(&table);
}
