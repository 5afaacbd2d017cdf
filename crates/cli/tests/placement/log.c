// What a program that was linked with DEADHEAT_LOG=1 calls: each thread writes what it does to a file of its own.
//
// System calls are made without libc's functions, which the runtime replaces: the log is no part of the program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ACCESS = 1, CHECK, SYNC, FREE, END, PRIVATE, PUBLISHED, BEGIN };
enum { EVENTS = 4096 };

struct event {
    uint32_t kind;
    uint32_t what; // A write or not; 1 for an acquire, 2 for a release, 4 for the start of a thread.
    uint64_t address, count, stride, bytes;
    uint64_t stamp; // In the order of all threads.
};

struct log {
    long file;
    size_t used;
    struct event events[EVENTS];
};

static __thread struct log *mine __attribute__((tls_model("initial-exec")));
static atomic_int threads;
static atomic_ulong stamps;
static pthread_key_t key;

static void flush(struct log *log) {
    const char *from = (const char *)log->events;
    size_t left = log->used * sizeof(struct event);
    while (left > 0) {
        long wrote = syscall(SYS_write, log->file, from, left);
        if (wrote <= 0)
            abort();
        from += wrote;
        left -= (size_t)wrote;
    }
    log->used = 0;
}

static void put(uint32_t kind, uint32_t what, uint64_t address, uint64_t count, uint64_t stride, uint64_t bytes) {
    struct log *log = mine;
    if (!log) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%d", getenv("DEADHEAT_LOG_TO"), atomic_fetch_add(&threads, 1));
        log = (struct log *)syscall(SYS_mmap, 0, sizeof *log, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        log->file = syscall(SYS_open, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (log->file < 0)
            abort();
        mine = log;
        pthread_setspecific(key, log);
    }
    log->events[log->used++] = (struct event){kind, what, address, count, stride, bytes, atomic_fetch_add(&stamps, 1)};
    if (log->used == EVENTS)
        flush(log);
}

static void end(void *log) {
    (void)log;
    put(END, 0, 0, 0, 0, 0);
    flush(mine);
    mine = 0;
}

__attribute__((constructor)) static void begin(void) {
    pthread_key_create(&key, end);
}

// The thread that ends the process has no other end.
__attribute__((destructor)) static void leave(void) {
    if (mine)
        end(mine);
}

void deadheat_log_access(void *address, uint64_t bytes, uint32_t write) {
    put(ACCESS, write, (uint64_t)address, 1, 0, bytes);
}

void deadheat_log_private(void *address, uint64_t bytes, uint32_t write) {
    put(PRIVATE, write, (uint64_t)address, 1, 0, bytes);
}

void deadheat_log_published(void *address, uint64_t bytes, uint32_t write) {
    put(PUBLISHED, write, (uint64_t)address, 1, 0, bytes);
}

void deadheat_log_begin(void *address, uint64_t bytes) {
    put(BEGIN, 0, (uint64_t)address, 1, 0, bytes);
}

void deadheat_log_check(void *address, uint64_t count, uint64_t stride, uint64_t bytes, uint32_t write) {
    put(CHECK, write, (uint64_t)address, count, stride, bytes);
}

// What was added to footprints, of which a thread has few at a time, and is to be checked.
enum { GATHERED = 1 << 20 };
struct gathered {
    void *footprint;
    uint64_t address, bytes;
    uint32_t write;
};
static __thread struct gathered *gathered;
static __thread size_t gathered_used;

void deadheat_log_gather(void *footprint, void *address, uint64_t bytes, uint32_t write) {
    if (!gathered)
        gathered = (struct gathered *)syscall(SYS_mmap, 0, GATHERED * sizeof *gathered, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gathered_used == GATHERED)
        abort();
    gathered[gathered_used++] = (struct gathered){footprint, (uint64_t)address, bytes, write};
}

void deadheat_log_column(void *footprint, void *address, uint64_t count, uint64_t stride, uint64_t bytes, uint32_t write) {
    for (uint64_t i = 0; i < count; i++)
        deadheat_log_gather(footprint, (char *)address + i * stride, bytes, write);
}

void deadheat_log_commit(void *footprint) {
    size_t kept = 0;
    for (size_t i = 0; i < gathered_used; i++) {
        struct gathered *one = &gathered[i];
        if (one->footprint == footprint)
            put(CHECK, one->write, one->address, 1, 0, one->bytes);
        else
            gathered[kept++] = *one;
    }
    gathered_used = kept;
}

void deadheat_log_sync(uint32_t what) {
    put(SYNC, what, 0, 0, 0, 0);
}

void deadheat_log_free(void *address) {
    if (address)
        put(FREE, 0, (uint64_t)address, 1, 0, malloc_usable_size(address));
}
