// Order between threads that a race detector cannot see.
//
// A racing program must race in every run, and still run its accesses in an order that is known, so that its output and
// its report are the same each time. A mutex or an atomic would order the threads for the detector as well. Here the
// counter of turns has no C object: it is defined by assembly, only assembly reads and changes it, its address is never
// an operand, and the thread sleeps by a raw `syscall` instruction. A detector that looks at the compiler's intermediate
// code, or at calls into libc, sees none of this. (One that works on machine code, as valgrind does, sees the accesses,
// but they are neither locks nor accesses of the program's variables.)
#ifndef INVISIBLE_H
#define INVISIBLE_H

#include <stdlib.h>

__asm__(".pushsection .bss,\"aw\",@nobits\n"
        ".balign 4\n"
        ".local invisible_turn\n"
        "invisible_turn: .zero 4\n"
        ".popsection\n");

// Waits until `n` turns are over.
static inline void invisible_wait(int n) {
    for (;;) {
        int now;
        __asm__ volatile("movl invisible_turn(%%rip), %0" : "=r"(now) : : "memory");
        if (now >= n) {
            return;
        }
        long result;
        register long timeout __asm__("r10") = 0;
        __asm__ volatile("leaq invisible_turn(%%rip), %%rdi\n\tsyscall"
                         : "=a"(result)
                         : "0"(202 /* futex */), "S"(128 /* FUTEX_WAIT, private */), "d"(now), "r"(timeout)
                         : "rdi", "rcx", "r11", "memory");
    }
}

// Ends a turn.
static inline void invisible_post(void) {
    long result;
    __asm__ volatile("lock incl invisible_turn(%%rip)\n\tleaq invisible_turn(%%rip), %%rdi\n\tsyscall"
                     : "=a"(result)
                     : "0"(202 /* futex */), "S"(129 /* FUTEX_WAKE, private */), "d"(0x7fffffff)
                     : "rdi", "rcx", "r11", "memory");
}

#ifdef VISIBLE_TURNS
// The same turns, in plain sight: what they order does not race.
#include <pthread.h>

static pthread_mutex_t visible_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t visible_change = PTHREAD_COND_INITIALIZER;
static int visible_turns;

static inline void turn(int n) {
    pthread_mutex_lock(&visible_mutex);
    while (visible_turns < n - 1) {
        pthread_cond_wait(&visible_change, &visible_mutex);
    }
    pthread_mutex_unlock(&visible_mutex);
}

static inline void next_turn(void) {
    pthread_mutex_lock(&visible_mutex);
    visible_turns++;
    pthread_cond_broadcast(&visible_change);
    pthread_mutex_unlock(&visible_mutex);
}
#else
// Waits for the n-th turn, counted from 1. With INVISIBLE_REVERSED in the environment the first two turns change places.
static inline void turn(int n) {
    invisible_wait(getenv("INVISIBLE_REVERSED") ? 2 - n : n - 1);
}

static inline void next_turn(void) {
    invisible_post();
}

#endif

#endif
