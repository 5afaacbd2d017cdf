// What fill_poll_race.c does with functions that wait for descriptors, one thread after the other.
#define VISIBLE_TURNS
#include "fill_poll_race.c"
