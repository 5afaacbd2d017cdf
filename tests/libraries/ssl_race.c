// Both ends of a TLS connection count in one variable when they are done with it.
// flags: -l:libssl.so.3 -l:libcrypto.so.3
// needs: openssl/ssl.h
// report: varies
#include "../programs/include/threads.h"

static int ended;

static void after(int serves) {
    // Both are done with the library, and with the sockets.
    next_turn();
    turn(3 + serves);
    ended++; //~ RACE ended
    next_turn();
}

#define PAIRS 1
#define AFTER(serves) after(serves)
#include "ssl.c"
