// What fill_numbers_race.c does with functions that read numbers, one thread after the other.
#define VISIBLE_TURNS
#include "fill_numbers_race.c"
