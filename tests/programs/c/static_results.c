// What static_results_race.c does with functions that give back memory of their own, one thread after the other.
#define VISIBLE_TURNS
#include "static_results_race.c"
