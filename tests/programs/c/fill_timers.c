// What fill_timers_race.c does with timers, one thread after the other.
#define VISIBLE_TURNS
#include "fill_timers_race.c"
