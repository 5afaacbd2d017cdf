// Two connections call back into a function that counts without a lock.
// flags: -l:libsqlite3.so.0
// needs: sqlite3.h
// report: varies
#include "../programs/include/threads.h"
#include <sqlite3.h>

static int rows;

static int count(void *argument, int columns, char **values, char **names) {
    (void)columns, (void)values, (void)names;
    // Both threads are here: no lock of the library's comes between the accesses.
    next_turn();
    turn(2 + *(int *)argument);
    rows++; //~ RACE rows
    next_turn();
    return 0;
}

static void query(int number) {
    sqlite3 *database;
    MUST(sqlite3_open(":memory:", &database) == SQLITE_OK);
    MUST(sqlite3_exec(database, "select 1", count, &number, NULL) == SQLITE_OK);
    MUST(sqlite3_close(database) == SQLITE_OK);
}

static void one(void) {
    query(1);
}

static void two(void) {
    query(2);
}

int main(void) {
    together(one, two);
    printf("%d\n", rows);
}
