// OpenSSL's libssl on pairs of sockets: one context for all, callbacks of the user's.
// flags: -l:libssl.so.3 -l:libcrypto.so.3
// needs: openssl/ssl.h
#include "../programs/include/threads.h"
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PAIRS
#define PAIRS 3
#define AFTER(serves)
#endif

enum { SIZE = 20000 };

static SSL_CTX *server, *client;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int handshakes;

static void on_info(const SSL *connection, int where, int result) {
    (void)result;
    if (where & SSL_CB_HANDSHAKE_DONE) {
        ++*(int *)SSL_get_app_data(connection);
        pthread_mutex_lock(&mutex);
        handshakes++;
        pthread_mutex_unlock(&mutex);
    }
}

static X509 *made(EVP_PKEY *key) {
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 10000);
    X509_set_pubkey(certificate, key);
    MUST(X509_sign(certificate, key, EVP_sha256()));
    return certificate;
}

struct end {
    int socket, serves;
};

static void *talk(void *argument) {
    struct end *end = argument;
    char *buffer = malloc(SIZE);
    int done = 0;
    SSL *connection = SSL_new(end->serves ? server : client);
    SSL_set_app_data(connection, &done);
    SSL_set_fd(connection, end->socket);
    MUST((end->serves ? SSL_accept(connection) : SSL_connect(connection)) == 1);
    if (end->serves) {
        int left = SIZE;
        while (left > 0) {
            int got = SSL_read(connection, buffer, SIZE);
            MUST(got > 0);
            left -= got;
        }
        MUST(SSL_write(connection, "ok", 2) == 2);
    } else {
        memset(buffer, 7, SIZE);
        MUST(SSL_write(connection, buffer, SIZE) == SIZE);
        MUST(SSL_read(connection, buffer, 2) == 2 && memcmp(buffer, "ok", 2) == 0);
    }
    MUST(done > 0);
    SSL_free(connection);
    close(end->socket);
    free(buffer);
    AFTER(end->serves);
    free(end);
    return NULL;
}

int main(void) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = made(key);
    server = SSL_CTX_new(TLS_server_method());
    client = SSL_CTX_new(TLS_client_method());
    MUST(SSL_CTX_use_certificate(server, certificate) == 1 && SSL_CTX_use_PrivateKey(server, key) == 1);
    SSL_CTX_set_info_callback(server, on_info);
    SSL_CTX_set_info_callback(client, on_info);
    pthread_t threads[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        int sockets[2];
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
        for (int n = 0; n < 2; n++) {
            struct end *end = malloc(sizeof *end);
            *end = (struct end){sockets[n], n};
            MUST(pthread_create(&threads[2 * i + n], NULL, talk, end) == 0);
        }
    }
    for (int i = 0; i < 2 * PAIRS; i++) {
        join(threads[i]);
    }
    SSL_CTX_free(server);
    SSL_CTX_free(client);
    X509_free(certificate);
    EVP_PKEY_free(key);
    printf("%d\n", handshakes >= 2 * PAIRS);
}
