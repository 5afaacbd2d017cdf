// Ways by which the address of a local, or of a block of the heap, gets to another thread: whatever is written there by a
// function that is only ever given such memory is still checked.
// flags: -O2
// report: varies
#include "../include/threads.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

// Orders nothing, and does not race itself.
static _Atomic(long *) slots[9];

static NOINLINE void keep(int slot, long *p) {
    atomic_store_explicit(&slots[slot], p, memory_order_relaxed);
}

static NOINLINE void keep_by_two_calls(long *p) {
    keep(0, p);
}
static NOINLINE void write_two(long *p) {
    *p = 1; //~ RACE two
}

struct holder {
    long number, *inside;
};
static NOINLINE void keep_inside(struct holder *holder) {
    keep(1, holder->inside);
}
static NOINLINE void write_inside(long *p) {
    *p = 1; //~ RACE inside
}

static NOINLINE long *same(long *p) {
    return p + 1;
}
static NOINLINE void write_returned(long *p) {
    *p = 1; //~ RACE returned
}

static void keep_third(long *p) {
    keep(3, p);
}
static void (*volatile hook)(long *) = keep_third;
static NOINLINE void write_by_hook(long *p) {
    *p = 1; //~ RACE hook
}

static NOINLINE void keep_listed(int count, ...) {
    va_list list;
    va_start(list, count);
    keep(4, va_arg(list, long *));
    va_end(list);
}
static NOINLINE void write_listed(long *p) {
    *p = 1; //~ RACE listed
}

static NOINLINE void copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}
static NOINLINE void write_copied(long *p) {
    *p = 1; //~ RACE copied
}

static _Atomic uintptr_t as_number;
static NOINLINE void write_number(long *p) {
    *p = 1; //~ RACE number
}

static NOINLINE void write_exchanged(long *p) {
    *p = 1; //~ RACE exchanged
}

static NOINLINE void write_heap(long *p) {
    *p = 1; //~ RACE heap
}

static NOINLINE void write_argument(long *p) {
    *p = 1; //~ RACE argument
}

static void *other(void *argument) {
    turn(2);
    long *p[8];
    for (int i = 0; i < 8; i++)
        p[i] = atomic_load_explicit(&slots[i], memory_order_relaxed);
    long sum = *(volatile long *)p[0]; //~ RACE two
    sum += *(volatile long *)p[1]; //~ RACE inside
    sum += *(volatile long *)p[2]; //~ RACE returned
    sum += *(volatile long *)p[3]; //~ RACE hook
    sum += *(volatile long *)p[4]; //~ RACE listed
    sum += *(volatile long *)p[5]; //~ RACE copied
    sum += *(volatile long *)p[6]; //~ RACE exchanged
    sum += *(volatile long *)p[7]; //~ RACE heap
    sum += *(volatile long *)atomic_load_explicit(&as_number, memory_order_relaxed); //~ RACE number
    sum += *(volatile long *)argument; //~ RACE argument
    next_turn();
    printf("%ld\n", sum);
    return NULL;
}

int main(void) {
    long two, inside, returned[2], by_hook, listed, copied, number, exchanged, argument;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, &argument) == 0);
    turn(1);
    keep_by_two_calls(&two);
    struct holder holder = {0, &inside};
    keep_inside(&holder);
    keep(2, same(returned));
    hook(&by_hook);
    keep_listed(1, &listed);
    long *from = &copied, *to;
    copy(&to, &from, sizeof from);
    keep(5, to);
    atomic_store_explicit(&as_number, (uintptr_t)&number, memory_order_relaxed);
    atomic_exchange_explicit(&slots[6], &exchanged, memory_order_relaxed);
    long *block = malloc(sizeof *block);
    keep(7, block);
    write_two(&two);
    write_inside(&inside);
    write_returned(returned + 1);
    write_by_hook(&by_hook);
    write_listed(&listed);
    write_copied(&copied);
    write_number(&number);
    write_exchanged(&exchanged);
    write_heap(block);
    write_argument(&argument);
    next_turn();
    join(thread);
}
