// Threads that read and write one LMDB environment, each transaction checking what the others left.
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 200, KEYS = 16 };

#define MUST(call) \
    do { \
        int status = (call); \
        if (status != 0) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, mdb_strerror(status)); \
            exit(1); \
        } \
    } while (0)

static MDB_env *env;
static MDB_dbi dbi;

// All keys have the same value in every snapshot.
static long value_of_all(MDB_txn *txn) {
    long first = -1;
    for (int key = 0; key < KEYS; key++) {
        MDB_val name = {sizeof key, &key}, found;
        MUST(mdb_get(txn, dbi, &name, &found));
        long value = *(long *)found.mv_data;
        if (first >= 0 && value != first) {
            fprintf(stderr, "a snapshot has %ld and %ld\n", first, value);
            exit(1);
        }
        first = value;
    }
    return first;
}

static void put_all(MDB_txn *txn, long value) {
    for (int key = 0; key < KEYS; key++) {
        MDB_val name = {sizeof key, &key}, data = {sizeof value, &value};
        MUST(mdb_put(txn, dbi, &name, &data, 0));
    }
}

static void *work(void *me) {
    for (long round = 0; round < ROUNDS; round++) {
        MDB_txn *txn;
        if (round % 4 == (long)me) {
            MUST(mdb_txn_begin(env, NULL, 0, &txn));
            put_all(txn, value_of_all(txn) + 1);
            MUST(mdb_txn_commit(txn));
        } else {
            MUST(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
            value_of_all(txn);
            mdb_txn_abort(txn);
        }
    }
    return NULL;
}

int main(int count, char **words) {
    MDB_txn *txn;
    MUST(count != 2);
    MUST(mdb_env_create(&env));
    MUST(mdb_env_open(env, words[1], MDB_NOSUBDIR | MDB_NOSYNC, 0600));
    MUST(mdb_txn_begin(env, NULL, 0, &txn));
    MUST(mdb_dbi_open(txn, NULL, MDB_INTEGERKEY, &dbi));
    put_all(txn, 0);
    MUST(mdb_txn_commit(txn));
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) {
        MUST(pthread_create(&threads[i], NULL, work, (void *)i));
    }
    for (int i = 0; i < THREADS; i++) {
        MUST(pthread_join(threads[i], NULL));
    }
    MUST(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    printf("%ld\n", value_of_all(txn));
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return 0;
}
