// Debian's zlib in many threads, with an allocator of the user's.
// flags: -l:libz.so.1
// needs: zlib.h
#include "../programs/include/threads.h"
#include <zlib.h>

enum { THREADS = 4, SIZE = 40000 };

// Blocks that are in use, and how many there were at most, for all threads.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int used, ever;

static voidpf allocate(voidpf opaque, uInt items, uInt size) {
    pthread_mutex_lock(&mutex);
    used++;
    ever++;
    pthread_mutex_unlock(&mutex);
    ++*(int *)opaque;
    return calloc(items, size);
}

static void release(voidpf opaque, voidpf block) {
    pthread_mutex_lock(&mutex);
    used--;
    pthread_mutex_unlock(&mutex);
    --*(int *)opaque;
    free(block);
}

// Read by all threads.
static unsigned char text[SIZE];

static void *work(void *argument) {
    long number = (long)argument;
    unsigned char *packed = malloc(SIZE), *again = malloc(SIZE);
    for (int round = 0; round < 5; round++) {
        int blocks = 0;
        z_stream stream = {.zalloc = allocate, .zfree = release, .opaque = &blocks};
        MUST(deflateInit(&stream, 1 + (int)number) == Z_OK);
        stream.next_in = text;
        stream.avail_in = SIZE;
        stream.next_out = packed;
        stream.avail_out = SIZE;
        MUST(deflate(&stream, Z_FINISH) == Z_STREAM_END);
        uLong length = stream.total_out;
        MUST(deflateEnd(&stream) == Z_OK && blocks == 0);
        z_stream back = {.zalloc = allocate, .zfree = release, .opaque = &blocks, .next_in = packed, .avail_in = length};
        MUST(inflateInit(&back) == Z_OK);
        back.next_out = again;
        back.avail_out = SIZE;
        MUST(inflate(&back, Z_FINISH) == Z_STREAM_END);
        MUST(inflateEnd(&back) == Z_OK && blocks == 0);
        MUST(memcmp(text, again, SIZE) == 0);
        MUST(crc32(0, text, SIZE) == crc32(0, again, SIZE));
        uLongf small = SIZE;
        MUST(compress(packed, &small, text, SIZE) == Z_OK);
    }
    free(packed);
    free(again);
    return NULL;
}

int main(void) {
    for (int i = 0; i < SIZE; i++) {
        text[i] = i * i / 1000;
    }
    crowd(THREADS, work);
    printf("%d %d\n", used, ever > 0);
}
