// One check behind the loop stands for writes at two lines; the report names both.
// flags: -O2
#include "../include/threads.h"

enum { SIZE = 500 };

struct point { double x; long y; };
struct point points[SIZE];

static void fill(void) {
    for (long i = 0; i < SIZE; i++) {
        points[i].x = (double)i / 2;
        points[i].y = -i; //~ RACE y
    }
    next_turn();
}

static void look(void) {
    turn(2);
    printf("%ld\n", points[SIZE / 2].y); //~ RACE y
}

int main(void) {
    together(fill, look);
}
