// What fill_threads_race.c does with functions on threads and their attributes, one thread after the other.
#define VISIBLE_TURNS
#include "fill_threads_race.c"
