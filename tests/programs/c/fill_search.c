// What fill_search_race.c does with tables and trees, one thread after the other.
#define VISIBLE_TURNS
#include "fill_search_race.c"
