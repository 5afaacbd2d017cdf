// What fill_patterns_race.c does with functions that match patterns, one thread after the other.
#define VISIBLE_TURNS
#include "fill_patterns_race.c"
