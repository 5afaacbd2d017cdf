// What fill_signals_race.c does with functions on signals, one thread after the other.
#define VISIBLE_TURNS
#include "fill_signals_race.c"
