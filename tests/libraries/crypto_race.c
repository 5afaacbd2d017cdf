// The user's function for the end of data at OpenSSL's objects counts without a lock, and so does another thread.
// flags: -l:libcrypto.so.3
// needs: openssl/bio.h
// report: varies
#include "../programs/include/threads.h"
#include <openssl/bio.h>
#include <openssl/crypto.h>

static int freed, place;

static void on_free(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    if (pointer) {
        freed++; //~ RACE freed
    }
}

static void use(void *data) {
    BIO *bio = BIO_new(BIO_s_mem());
    MUST(BIO_set_ex_data(bio, place, data));
    BIO_free(bio);
}

static void one(void) {
    int number = 1;
    turn(2);
    use(&number);
    next_turn();
}

static void two(void) {
    turn(1);
    use(NULL);
    next_turn();
    turn(3);
    freed++; //~ RACE freed
    next_turn();
}

int main(void) {
    place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_BIO, 0, NULL, NULL, NULL, on_free);
    together(one, two);
    printf("%d\n", freed);
}
