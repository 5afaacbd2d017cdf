// OpenSSL's libcrypto: digests, ciphers, random numbers, data of the user's at its objects.
// flags: -l:libcrypto.so.3
// needs: openssl/evp.h
#include "../programs/include/threads.h"
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

enum { THREADS = 4, ROUNDS = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int made, freed, place;
static EVP_PKEY *key;

static void on_new(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)pointer, (void)data, (void)index, (void)number;
    pthread_mutex_lock(&mutex);
    ++*(int *)argument;
    pthread_mutex_unlock(&mutex);
}

static void on_free(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    free(pointer);
    pthread_mutex_lock(&mutex);
    freed++;
    pthread_mutex_unlock(&mutex);
}

static long on_bio(BIO *bio, int what, const char *data, size_t length, int i, long l, int result, size_t *done) {
    (void)what, (void)data, (void)length, (void)i, (void)l, (void)done;
    ++*(int *)BIO_get_callback_arg(bio);
    return result;
}

static void *work(void *argument) {
    unsigned char input[500], output[600], again[600], random[16], digest[32], copy[32];
    memset(input, 1 + (int)(long)argument, sizeof input);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned size;
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        MUST(EVP_DigestInit_ex(context, EVP_sha256(), NULL) && EVP_DigestUpdate(context, input, sizeof input) &&
             EVP_DigestFinal_ex(context, digest, &size) && size == 32);
        EVP_MD_CTX_free(context);
        MUST(EVP_Digest(input, sizeof input, copy, &size, EVP_sha256(), NULL) && memcmp(digest, copy, 32) == 0);

        MUST(RAND_bytes(random, sizeof random) == 1);
        int length, more;
        EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
        MUST(EVP_EncryptInit_ex(cipher, EVP_aes_128_cbc(), NULL, random, digest) &&
             EVP_EncryptUpdate(cipher, output, &length, input, sizeof input) && EVP_EncryptFinal_ex(cipher, output + length, &more));
        int total = length + more;
        MUST(EVP_DecryptInit_ex(cipher, EVP_aes_128_cbc(), NULL, random, digest) &&
             EVP_DecryptUpdate(cipher, again, &length, output, total) && EVP_DecryptFinal_ex(cipher, again + length, &more));
        MUST(length + more == sizeof input && memcmp(input, again, sizeof input) == 0);
        EVP_CIPHER_CTX_free(cipher);

        int events = 0;
        BIO *bio = BIO_new(BIO_s_mem());
        BIO_set_callback_ex(bio, on_bio);
        BIO_set_callback_arg(bio, (char *)&events);
        void *data = malloc(10);
        MUST(BIO_set_ex_data(bio, place, data) && BIO_get_ex_data(bio, place) == data);
        MUST(BIO_write(bio, input, 100) == 100 && BIO_read(bio, again, 100) == 100);
        BIO_free(bio);
        MUST(events > 0);

        // A key that all threads use.
        EVP_PKEY_up_ref(key);
        EVP_MD_CTX *sign = EVP_MD_CTX_new();
        size_t signed_length = sizeof output;
        MUST(EVP_DigestSignInit(sign, NULL, NULL, NULL, key) &&
             EVP_DigestSign(sign, output, &signed_length, input, sizeof input));
        EVP_MD_CTX_free(sign);
        EVP_PKEY_free(key);

        MUST(BIO_new_file("/no/such/file", "r") == NULL && ERR_get_error() != 0);
        ERR_clear_error();
    }
    return NULL;
}

static void at_end(void) {
    printf("%d\n", made == freed);
}

int main(void) {
    atexit(at_end);
    key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_BIO, 0, &made, on_new, NULL, on_free);
    MUST(key && place > 0);
    crowd(THREADS, work);
    EVP_PKEY_free(key);
}
