// A runtime that checks nothing and tells everything: every hook prints a line, if its address is in `mem`, the memory
// that a test program plays with. It also compares each context with the stack as the unwinder sees it: equal contexts
// must mean equal stacks, and the other way round. (A function that has called itself counts once.)
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

struct tls {
    uint64_t epoch, mask, base, context, thread;
    uint32_t inside;
} __attribute__((aligned(64)));

extern char mem[256];

// An epoch that no word of the zero cells has: every inline test calls.
static const uint64_t zero_cells[16];
_Thread_local struct tls __deadheat_tls = {.epoch = 1ull << 30, .base = (uint64_t)zero_cells};

enum { DEPTH = 64, STACKS = 4096 };
static struct {
    uint64_t context;
    int depth;
    uintptr_t frames[DEPTH];
} stacks[STACKS];
static int known;

struct walk {
    int skipped, depth;
    uintptr_t function;
    uintptr_t frames[DEPTH];
};

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *data) {
    struct walk *walk = data;
    uintptr_t before = walk->function;
    walk->function = _Unwind_GetRegionStart(frame);
    // Ours, the hook, and the function itself: what counts is where the function was called from.
    if (walk->skipped++ < 3 || walk->function == before) return _URC_NO_REASON;
    if (walk->depth < DEPTH) walk->frames[walk->depth++] = _Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

static __attribute__((noinline)) void compare(uint64_t context) {
    struct walk walk = {0};
    _Unwind_Backtrace(step, &walk);
    for (int i = 0; i < known; i++) {
        int same_stack = stacks[i].depth == walk.depth &&
                         memcmp(stacks[i].frames, walk.frames, walk.depth * sizeof *walk.frames) == 0;
        int same_context = stacks[i].context == context;
        if (same_stack != same_context) {
            printf("contexts differ from stacks\n");
            fflush(stdout);
            abort();
        }
        if (same_stack) return;
    }
    if (known == STACKS) abort();
    stacks[known].context = context;
    stacks[known].depth = walk.depth;
    memcpy(stacks[known++].frames, walk.frames, sizeof walk.frames);
}

// The calls of checks since the last look; told only while not `quiet`.
static int calls, quiet;

#define IN_MEM(p) ((const char *)(p) >= mem && (const char *)(p) < mem + sizeof mem)
#define AT(p) ((int)((const char *)(p) - mem))
#define HOOK __attribute__((preserve_most, noinline))

#define EXACT(name)                                                  \
    HOOK void __deadheat_##name(const void *p, uint64_t context) {   \
        calls++;                                                     \
        if (quiet) return;                                           \
        compare(context);                                            \
        if (IN_MEM(p)) printf(#name " %d\n", AT(p));                 \
    }
EXACT(read1) EXACT(read2) EXACT(read4) EXACT(read8) EXACT(read16)
EXACT(write1) EXACT(write2) EXACT(write4) EXACT(write8) EXACT(write16)

#define RANGE(name)                                                                \
    HOOK void __deadheat_##name##_range(const void *p, uint64_t len, uint64_t context) { \
        calls++;                                                                   \
        if (quiet) return;                                                         \
        compare(context);                                                          \
        if (IN_MEM(p)) printf(#name "_range %d %d\n", AT(p), (int)len);            \
    }
RANGE(read) RANGE(write)

static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
static const char *const kinds[] = {"load", "store", "update"};

void __deadheat_atomic_begin(const void *p) {
    if (IN_MEM(p)) printf("begin %d\n", AT(p));
}

static void ended(const void *p, uint32_t what) {
    if (IN_MEM(p))
        printf("end %d %d %s %s\n", AT(p), (int)(what & 0xff), kinds[what >> 8 & 0xff], orders[what >> 16]);
}

__attribute__((noinline)) void __deadheat_atomic_end(const void *p, uint32_t what, uint64_t context) {
    compare(context);
    ended(p, what);
}

// As if it stood between the two.
__attribute__((noinline)) uint64_t __deadheat_atomic_load(const void *p, uint32_t what, uint64_t context) {
    uint64_t value = 0;
    compare(context);
    __deadheat_atomic_begin(p);
    memcpy(&value, p, what & 0xff);
    ended(p, what);
    return value;
}

void __deadheat_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    qsort(base, count, size, compare);
}

// Everything here counts as instrumented.
struct callee { uint64_t state; };
void __deadheat_call_begin(struct callee *callee) { callee->state = 1; }
void __deadheat_call_arguments(struct callee *callee) { callee->state = 1; }
void __deadheat_call_end(struct callee *callee) { callee->state = 1; }

void __deadheat_call_local(struct callee *callee) { callee->state = 1; }

// Nobody asks.
char __deadheat_linking;
void __deadheat_link(const void *p) { (void)p; }
void __deadheat_links(const void *p) { (void)p; }

void __deadheat_pointer_begin(const void *function) { (void)function; }
void __deadheat_pointer_end(const void *function) { (void)function; }

void __deadheat_fence(uint32_t order) { printf("fence %s\n", orders[order]); }

size_t __deadheat_strlen(const char *s) {
    compare(__deadheat_tls.context);
    printf("strlen %d\n", AT(s));
    return strlen(s);
}

void *__deadheat_memcpy(void *to, const void *from, size_t n) {
    compare(__deadheat_tls.context);
    printf("memcpy %d %d %d\n", AT(to), AT(from), (int)n);
    return memcpy(to, from, n);
}

void __deadheat_free(void *p) { free(p); }

// Calls `access`, which reads or writes `size` bytes, at every `step`th place, with every kind of shadow word, and checks
// that the inline test asks exactly when it should: when a word is of another epoch, or does not have one of the bytes.
// A `loose` test may also ask when the bytes are in two granules.
void decide(void (*access)(volatile void *), int size, int step, int write, int loose) {
    enum { CELLS = 24 };
    const uint64_t epoch = 5ull << 50 | 77ull << 30, epoch_bits = ~0ull << 30, address_mask = 0x0ffffffffff8;
    static uint64_t cells[CELLS][2];
    // No difference, another time, another slot, nothing yet.
    const uint64_t others[] = {0, 1ull << 30, 1ull << 63, epoch};
    int decisions = 0, wrong = 0;
    struct tls serial = __deadheat_tls;
    for (int at = 0; at + size <= 64 && at < 16; at += step) {
        int granules = (at + size + 7) / 8 - at / 8;
        for (int which = 0; which < granules; which++)
            for (int other = 0; other < 4; other++)
                for (uint64_t missing = 0; missing < 256; missing++) {
                    // All words are as after an access of the same epoch to all bytes, from some place; one is not, and
                    // the words of the other kind are all wrong if that one is right.
                    const uint64_t good = epoch | 0x2aaaaa00;
                    const uint64_t odd = (good ^ others[other]) | missing;
                    unsigned bytes = ((1u << (size < 8 ? size : 8)) - 1) << at % 8;
                    if (granules > 1) {
                        int from = which == 0 ? at % 8 : 0;
                        int to = which == granules - 1 ? (at + size - 1) % 8 + 1 : 8;
                        bytes = ((1u << to) - 1) & ~((1u << from) - 1);
                    }
                    int needed = ((odd ^ epoch) & epoch_bits) != 0 || (missing & bytes) != 0;
                    for (int i = 0; i < CELLS; i++) {
                        cells[i][!write] = good;
                        cells[i][write] = needed ? good : ~good;
                    }
                    cells[at / 8 + which][!write] = odd;
                    calls = 0;
                    quiet = 1;
                    __deadheat_tls.base = (uint64_t)cells - (((uint64_t)mem & address_mask) << 1);
                    __deadheat_tls.mask = address_mask;
                    __deadheat_tls.epoch = epoch;
                    access(mem + at);
                    __deadheat_tls.epoch = serial.epoch;
                    __deadheat_tls.mask = serial.mask;
                    __deadheat_tls.base = serial.base;
                    quiet = 0;
                    decisions++;
                    if (calls != (needed || (loose && granules > 1))) wrong++;
                    // While nothing needs to be checked, nothing is asked.
                    __deadheat_tls.epoch = calls = 0;
                    access(mem + at);
                    __deadheat_tls.epoch = serial.epoch;
                    if (calls != 0) wrong++;
                }
    }
    printf("%s %d%s: %d decisions, %d wrong\n", write ? "write" : "read", size, loose ? " loose" : "", decisions, wrong);
}
