// Two transfers count their bytes in one variable, without a lock.
// flags: -l:libcurl.so.4
// needs: curl/curl.h
// report: varies
#include "../programs/include/threads.h"
#include <curl/curl.h>

#include "server.h"

static struct server servers[2];
static size_t total;

struct transfer {
    int turn;
};

static size_t take(char *data, size_t size, size_t count, void *argument) {
    struct transfer *transfer = argument;
    (void)data;
    if (transfer->turn) {
        // Both threads are here: no lock of the library's comes between the accesses.
        next_turn();
        turn(2 + transfer->turn);
        total += 1; //~ RACE total
        next_turn();
        transfer->turn = 0;
    }
    return size * count;
}

static void fetch(int number) {
    struct transfer transfer = {number};
    CURL *handle = curl_easy_init();
    char address[100];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", servers[number - 1].port);
    curl_easy_setopt(handle, CURLOPT_URL, address);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    MUST(curl_easy_perform(handle) == CURLE_OK);
    curl_easy_cleanup(handle);
}

static void one(void) {
    fetch(1);
}

static void two(void) {
    fetch(2);
}

int main(void) {
    MUST(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK);
    server_start(&servers[0]);
    server_start(&servers[1]);
    together(one, two);
    server_stop(&servers[0]);
    server_stop(&servers[1]);
    curl_global_cleanup();
    printf("%zu\n", total);
}
