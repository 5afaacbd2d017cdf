// The user's allocator counts its blocks without a lock.
// flags: -l:libz.so.1
// needs: zlib.h
// report: varies
#include "../programs/include/threads.h"
#include <zlib.h>

static int ever;

static voidpf allocate(voidpf opaque, uInt items, uInt size) {
    int *number = opaque;
    if (*number) {
        // Both threads are here: nothing of the library's comes between the accesses.
        next_turn();
        turn(2 + *number);
        ever++; //~ RACE ever
        next_turn();
        *number = 0;
    }
    return calloc(items, size);
}

static void release(voidpf opaque, voidpf block) {
    (void)opaque;
    free(block);
}

static void work(int number) {
    z_stream stream = {.zalloc = allocate, .zfree = release, .opaque = &number};
    MUST(deflateInit(&stream, 6) == Z_OK);
    MUST(deflateEnd(&stream) == Z_OK);
}

static void one(void) {
    work(1);
}

static void two(void) {
    work(2);
}

int main(void) {
    together(one, two);
    printf("%d\n", ever);
}
