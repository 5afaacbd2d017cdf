// After a longjmp out of many frames the report shows the stack as it is.
// orders: both
#include "../include/threads.h"

#include <setjmp.h>

int data;
_Thread_local jmp_buf back;

__attribute__((noinline)) static void deep(int depth) {
    if (depth == 0) {
        longjmp(back, 1);
    }
    deep(depth - 1);
    data = 7;
}

__attribute__((noinline)) static void write(int value) {
    data = value; //~ RACE data
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    if (setjmp(back) == 0) {
        deep(10);
    }
    write(n);
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d\n", data);
}
