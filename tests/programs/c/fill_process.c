// What fill_process_race.c does with functions on processes, one thread after the other.
#define VISIBLE_TURNS
#include "fill_process_race.c"
