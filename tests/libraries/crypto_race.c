// The user's function for the end of data at OpenSSL's objects counts without a lock.
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
        // Both threads are here: no lock of the library's comes between the accesses.
        next_turn();
        turn(2 + *(int *)pointer);
        freed++; //~ RACE freed
        next_turn();
    }
}

static void use(int number) {
    BIO *bio = BIO_new(BIO_s_mem());
    MUST(BIO_set_ex_data(bio, place, &number));
    BIO_free(bio);
}

static void one(void) {
    use(1);
}

static void two(void) {
    use(2);
}

int main(void) {
    place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_BIO, 0, NULL, NULL, NULL, on_free);
    together(one, two);
    printf("%d\n", freed);
}
