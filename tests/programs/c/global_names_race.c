// The report names the variable: a global, a static, a static of a function, an element, a field of a field.
// orders: both
#include "../include/threads.h"

struct inner { int x, y; };
struct outer { long pad; struct inner inner[4]; };

int global;
static int file_static;
struct outer nested;
int matrix[4][4];

static int *function_static(void) {
    static int inside;
    return &inside;
}

static void *body(void *argument) {
    int n = (int)(long)argument;
    turn(n + 1);
    global = n; //~ RACE global
    file_static = n; //~ RACE static
    *function_static() = n; //~ RACE function-static
    nested.inner[2].y = n; //~ RACE field
    matrix[3][1] = n; //~ RACE element
    next_turn();
    return NULL;
}

int main(void) {
    crowd(2, body);
    printf("%d %d %d %d %d\n", global, file_static, *function_static(), nested.inner[2].y, matrix[3][1]);
}
