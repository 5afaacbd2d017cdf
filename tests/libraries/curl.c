// Debian's libcurl in many threads, with shared connections and names behind the user's locks.
// flags: -l:libcurl.so.4
// needs: curl/curl.h
#include "../programs/include/threads.h"
#include <curl/curl.h>

#include "server.h"

enum { THREADS = 4, ROUNDS = 3 };

static struct server server;
static CURLSH *share;
static pthread_mutex_t locks[CURL_LOCK_DATA_LAST];
// Counted in callbacks, under a lock.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t total;

static void lock(CURL *handle, curl_lock_data data, curl_lock_access access, void *argument) {
    (void)handle, (void)access, (void)argument;
    pthread_mutex_lock(&locks[data]);
}

static void unlock(CURL *handle, curl_lock_data data, void *argument) {
    (void)handle, (void)argument;
    pthread_mutex_unlock(&locks[data]);
}

static size_t take(char *data, size_t size, size_t count, void *argument) {
    (void)data;
    *(size_t *)argument += size * count;
    pthread_mutex_lock(&mutex);
    total += size * count;
    pthread_mutex_unlock(&mutex);
    return size * count;
}

static void *work(void *argument) {
    CURL *handle = curl_easy_init();
    for (int i = 0; i < ROUNDS; i++) {
        char address[100];
        size_t got = 0;
        snprintf(address, sizeof address, "http://127.0.0.1:%d/%ld-%d", server.port, (long)argument, i);
        curl_easy_setopt(handle, CURLOPT_URL, address);
        curl_easy_setopt(handle, CURLOPT_PROXY, "");
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_SHARE, share);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &got);
        MUST(curl_easy_perform(handle) == CURLE_OK);
        MUST(got == 4 * REPEAT);
    }
    curl_easy_cleanup(handle);
    return NULL;
}

int main(void) {
    MUST(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK);
    for (int i = 0; i < CURL_LOCK_DATA_LAST; i++) {
        pthread_mutex_init(&locks[i], NULL);
    }
    share = curl_share_init();
    curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    server_start(&server);
    crowd(THREADS, work);
    server_stop(&server);
    MUST(curl_share_cleanup(share) == CURLSHE_OK);
    curl_global_cleanup();
    printf("%zu\n", total);
}
