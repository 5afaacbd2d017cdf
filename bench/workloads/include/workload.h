// What every workload has, in C and C++: its arguments, numbers that are the same everywhere, the verdict.
//
// Usage of each: NAME [THREADS [SIZE]]. The last line of its output is `ok CHECKSUM` or `wrong CHECKSUM`, and the exit
// status 0 or 1; 2 for wrong arguments. Built with -DRACE it has one known race at the lines marked `//~ RACE NAME`. Its
// result may then be right or wrong; the exit status is 0 either way, so that only a race detector makes it another.
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef RACE
#define RACING 1
#else
#define RACING 0
#endif

#define MOST_THREADS 1024

static int threads = 2;

static inline long number_from(const char *word, const char *what, long least, long most) {
    char *end;
    errno = 0;
    long number = strtol(word, &end, 10);
    if (errno != 0 || end == word || *end != '\0' || number < least || number > most) {
        fprintf(stderr, "%s is `%s`, and must be a number from %ld to %ld\n", what, word, least, most);
        exit(2);
    }
    return number;
}

// Takes the number of threads and returns the size.
static inline long arguments(int count, char **words, long size, long least, long most) {
    if (count > 3) {
        fprintf(stderr, "usage: %s [THREADS [SIZE]]\n", words[0]);
        exit(2);
    }
    if (count > 1) {
        threads = (int)number_from(words[1], "THREADS", 1, MOST_THREADS);
    }
    return count > 2 ? number_from(words[2], "SIZE", least, most) : size;
}

// Memory for `count` things, all bytes zero.
static inline void *room(long count, size_t size) {
    void *block = calloc((size_t)count, size);
    if (!block) {
        fprintf(stderr, "not enough memory for this size: choose a smaller one\n");
        exit(2);
    }
    return block;
}

// Of a bijection whose values look random (the finaliser of splitmix64).
static inline uint64_t scramble(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static inline uint64_t next_bits(uint64_t *state) {
    return scramble(*state += 0x9e3779b97f4a7c15u);
}

// From 0 up to, and without, `limit`.
static inline long next_below(uint64_t *state, long limit) {
    return (long)((next_bits(state) >> 1) % (uint64_t)limit);
}

// From 0 up to 1.
static inline double next_number(uint64_t *state) {
    return (double)(next_bits(state) >> 11) / 9007199254740992.0;
}

// The work of thread `me` out of `count` things is from `first_of(count, me)` up to `first_of(count, me + 1)`.
static inline long first_of(long count, long me) {
    return count * me / threads;
}

static inline int verdict(int right, uint64_t checksum) {
    printf("%s %016llx\n", right ? "ok" : "wrong", (unsigned long long)checksum);
    return !right && !RACING;
}

// For sums whose last digits depend on the order.
static inline int verdict_number(int right, double checksum) {
    printf("%s %.6g\n", right ? "ok" : "wrong", checksum);
    return !right && !RACING;
}

#endif
