// Of a recursion through several functions the report shows each once, at the line that it called from last.
#include "../include/threads.h"

int data;

static void stem(int depth, unsigned way, int *visits);

__attribute__((noinline)) static void leaf(unsigned way) {
    if (way == 127) {
        data++; //~ RACE data
    }
}

__attribute__((noinline)) static void branch(int depth, unsigned way, int *visits) {
    visits[depth]++;
    if (way >> depth & 1) {
        stem(depth - 1, way, visits);
        __asm__ volatile("# right"); // two calls, not one
    } else {
        stem(depth - 1, way, visits);
        __asm__ volatile("# left");
    }
    visits[depth]++;
}

__attribute__((noinline)) static void stem(int depth, unsigned way, int *visits) {
    visits[depth]++;
    if (depth == 0) {
        leaf(way);
    } else {
        branch(depth, way, visits);
    }
    visits[depth]++;
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    int *visits = calloc(8, sizeof *visits);
    // Only the last way races. What the others have made known of the stack must be right for it, too.
    for (unsigned way = 0; way < 128; way++) {
        if (n == 0) {
            stem(6, way, visits);
        } else {
            branch(7, way, visits);
        }
    }
    free(visits);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", data);
}
