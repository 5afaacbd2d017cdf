// The paths of a check of one access: built with a check for each.
#include "paths.h"

// Not static: what nobody reads would go.
_Atomic long atomic;
long number, numbers[4096];
int half, halves[8192];
char byte, bytes[4096 * 8], text[64], copy[64];
char *from = text, *place;

static void read8(long n) {
    EACH(n) (void)*(volatile long *)&number;
}

static void write8(long n) {
    EACH(n) number = i;
}

static void write4(long n) {
    EACH(n) half = (int)i;
}

static void write1(long n) {
    EACH(n) byte = (char)i;
}

// Each access is the first of its epoch.
static void first_write8(long n) {
    EACH(n) numbers[i % 4096] = i;
}

static void first_read8(long n) {
    EACH(n) (void)*(volatile long *)&numbers[i % 4096];
}

// Parts of eight bytes, and neighbours: as in structs.
static void first_write4(long n) {
    EACH(n) halves[i % 8192] = (int)i;
}

static void first_write1(long n) {
    EACH(n) bytes[i % 4096 * 8] = (char)i;
}

static void first_read16(long n) {
    EACH(n) memcpy(copy, &numbers[i % 1024 * 4], 16);
}

static void first_copy32(long n) {
    EACH(n) memcpy(&numbers[i % 1024 * 4], text, 32);
}

static void first_copy5(long n) {
    EACH(n) memcpy(&numbers[i % 1024 * 4], text, 5);
}

// May be one of a pointer to the heap, which calls into code that is not instrumented could follow.
static void store_pointer(long n) {
    EACH(n) place = from;
}

static void copy64(long n) {
    EACH(n) memcpy(copy, text, sizeof copy);
}

static __attribute__((noinline)) void callee(long i) {
    number = i;
    keep();
}

static void call(long n) {
    EACH(n) callee(i);
}

static void mutex(long n) {
    EACH(n) {
        pthread_mutex_lock(&lock);
        number = i;
        pthread_mutex_unlock(&lock);
    }
}

static void fetch_add(long n) {
    EACH(n) __c11_atomic_fetch_add(&atomic, 1, __ATOMIC_ACQ_REL);
}

static void atomic_load(long n) {
    EACH(n) __c11_atomic_load(&atomic, __ATOMIC_ACQUIRE);
}

static const struct path cases[] = {
    {"read8", read8},     {"write8", write8}, {"write4", write4}, {"write1", write1}, {"first-write8", first_write8},
    {"first-read8", first_read8}, {"first-write4", first_write4}, {"first-write1", first_write1}, {"first-read16", first_read16},
    {"first-copy32", first_copy32}, {"first-copy5", first_copy5}, {"store-pointer", store_pointer}, {"copy64", copy64}, {"call", call}, {"mutex", mutex},
    {"fetch-add", fetch_add}, {"atomic-load", atomic_load},
};

MAIN(cases)
