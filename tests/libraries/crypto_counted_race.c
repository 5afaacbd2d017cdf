// Two objects of OpenSSL's with counts of their own: that orders nothing between their users.
// flags: -l:libcrypto.so.3
// needs: openssl/bio.h
// orders: both
// report: varies
#include "../programs/include/threads.h"
#include <openssl/bio.h>

static int data;

static BIO *first, *second;

static void one(void) {
    turn(1);
    data = 1; //~ RACE data
    MUST(BIO_up_ref(first));
    next_turn();
}

static void two(void) {
    turn(2);
    MUST(BIO_up_ref(second));
    data = 2; //~ RACE data
    next_turn();
}

int main(void) {
    first = BIO_new(BIO_s_mem());
    second = BIO_new(BIO_s_mem());
    together(one, two);
    for (int i = 0; i < 2; i++) {
        BIO_free(first);
        BIO_free(second);
    }
}
