// What fill_math_race.c does with functions that give a second result through a pointer, one thread after the other.
// flags: -lm
#define VISIBLE_TURNS
#include "fill_math_race.c"
