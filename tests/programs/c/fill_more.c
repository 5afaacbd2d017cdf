// What fill_more_race.c does with further functions that fill memory, one thread after the other.
// flags: -lrt
#define VISIBLE_TURNS
#include "fill_more_race.c"
