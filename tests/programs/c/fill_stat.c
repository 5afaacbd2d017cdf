// What fill_stat_race.c does with functions on files, one thread after the other.
#define VISIBLE_TURNS
#include "fill_stat_race.c"
