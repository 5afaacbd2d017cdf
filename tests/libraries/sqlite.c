// Debian's SQLite: one connection for all threads with hooks and functions of the user's, and one for each thread.
// flags: -l:libsqlite3.so.0
// needs: sqlite3.h
#include "../programs/include/threads.h"
#include <sqlite3.h>

enum { THREADS = 4, ROWS = 40 };

static sqlite3 *shared;
// Changed in hooks and functions, under the lock of the connection.
static int updates, calls;

static void hook(void *argument, int kind, const char *database, const char *table, sqlite3_int64 row) {
    (void)kind, (void)database, (void)table, (void)row;
    ++*(int *)argument;
}

static void twice(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    ++*(int *)sqlite3_user_data(context);
    sqlite3_result_int(context, 2 * sqlite3_value_int(values[0]));
}

static int add(void *argument, int count, char **values, char **names) {
    (void)count, (void)names;
    *(long *)argument += atol(values[0]);
    return 0;
}

static void run(sqlite3 *database, const char *text, int (*callback)(void *, int, char **, char **), void *argument) {
    char *message = NULL;
    if (sqlite3_exec(database, text, callback, argument, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", text, message);
        abort();
    }
}

static void *work(void *argument) {
    long number = (long)argument, sum = 0, own_sum = 0;
    sqlite3 *own;
    MUST(sqlite3_open(":memory:", &own) == SQLITE_OK);
    run(own, "create table t (x integer)", NULL, NULL);
    sqlite3_stmt *insert;
    MUST(sqlite3_prepare_v2(own, "insert into t values (?)", -1, &insert, NULL) == SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        char text[100];
        snprintf(text, sizeof text, "insert into t values (twice(%d), %ld)", i, number);
        run(shared, text, NULL, NULL);
        sqlite3_bind_int(insert, 1, i);
        MUST(sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK);
    }
    sqlite3_finalize(insert);
    char text[100];
    snprintf(text, sizeof text, "select x from t where thread = %ld", number);
    run(shared, text, add, &sum);
    run(own, "select x from t order by x desc", add, &own_sum);
    MUST(sum == ROWS * (ROWS - 1) && own_sum == sum / 2);
    MUST(sqlite3_close(own) == SQLITE_OK);
    return NULL;
}

int main(void) {
    MUST(sqlite3_threadsafe() == 1);
    MUST(sqlite3_open_v2(":memory:", &shared, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL) == SQLITE_OK);
    run(shared, "create table t (x integer, thread integer)", NULL, NULL);
    sqlite3_update_hook(shared, hook, &updates);
    MUST(sqlite3_create_function(shared, "twice", 1, SQLITE_UTF8, &calls, twice, NULL, NULL) == SQLITE_OK);
    crowd(THREADS, work);
    MUST(sqlite3_close(shared) == SQLITE_OK);
    printf("%d %d\n", updates, calls);
}
