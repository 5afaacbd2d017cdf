// What fill_fortified_race.c does with the checked functions that _FORTIFY_SOURCE calls, one thread after the other.
// flags: -O2 -D_FORTIFY_SOURCE=2
#define VISIBLE_TURNS
#include "fill_fortified_race.c"
