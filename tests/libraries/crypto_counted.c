// The last of many users of an object of OpenSSL's ends it, and the data of the user's at it, by a count in the library.
// flags: -l:libcrypto.so.3
// needs: openssl/bio.h
#include "../programs/include/threads.h"
#include <openssl/bio.h>
#include <openssl/crypto.h>

enum { THREADS = 4, ROUNDS = 50 };

static BIO *shared[ROUNDS];
static int place, sums[ROUNDS];

struct data {
    int of_thread[THREADS], round;
};

static void on_free(void *parent, void *pointer, CRYPTO_EX_DATA *all, int index, long number, void *argument) {
    (void)parent, (void)all, (void)index, (void)number, (void)argument;
    struct data *data = pointer;
    for (int i = 0; i < THREADS; i++) {
        sums[data->round] += data->of_thread[i];
    }
    free(data);
}

static void *work(void *argument) {
    long number = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct data *data = BIO_get_ex_data(shared[i], place);
        data->of_thread[number] = i;
        BIO_free(shared[i]);
    }
    return NULL;
}

int main(void) {
    place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_BIO, 0, NULL, NULL, NULL, on_free);
    for (int i = 0; i < ROUNDS; i++) {
        struct data *data = calloc(1, sizeof *data);
        data->round = i;
        shared[i] = BIO_new(BIO_s_mem());
        MUST(BIO_set_ex_data(shared[i], place, data));
        for (int n = 1; n < THREADS; n++) {
            MUST(BIO_up_ref(shared[i]));
        }
    }
    crowd(THREADS, work);
    int wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        wrong += sums[i] != THREADS * i;
    }
    printf("%d\n", wrong);
}
