// The second result of functions of <math.h> goes where another thread looks.
// flags: -lm
// orders: both
#include "../include/touch.h"

#include <math.h>

static volatile double x = 2.5, y = 2;
static int a, b, c, d, e;
static double f, g, h;
static float i, j, k;

static void functions(void) {
    turn(1);
    double sum = frexp(x, &a); //~ RACE frexp
    sum += frexpf((float)x, &b); //~ RACE frexpf
    sum += remquo(x, y, &c); //~ RACE remquo
    sum += lgamma_r(x, &d); //~ RACE lgamma_r
    sum += lgammaf_r((float)x, &e); //~ RACE lgammaf_r
    sum += modf(x, &f); //~ RACE modf
    sum += modff((float)x, &i); //~ RACE modff
    sincos(x, &g, &h); //~ RACE sine cosine
    sincosf((float)x, &j, &k); //~ RACE sincosf
    y = sum;
    next_turn();
}

static void use(void) {
    turn(2);
    TOUCH(a, 0); //~ RACE frexp
    TOUCH(b, 0); //~ RACE frexpf
    TOUCH(c, 0); //~ RACE remquo
    TOUCH(d, 0); //~ RACE lgamma_r
    TOUCH(e, 0); //~ RACE lgammaf_r
    TOUCH(f, 0); //~ RACE modf
    TOUCH(i, 0); //~ RACE modff
    TOUCH(g, 7); //~ RACE sine
    TOUCH(h, 0); //~ RACE cosine
    TOUCH(k, 0); //~ RACE sincosf
    next_turn();
}

int main(void) {
    together(functions, use);
}
