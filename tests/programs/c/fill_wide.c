// What fill_wide_race.c does with functions on wide characters, one thread after the other.
#define VISIBLE_TURNS
#include "fill_wide_race.c"
