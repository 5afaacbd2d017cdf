// What fill_sockets_race.c does with functions on sockets, one thread after the other.
#define VISIBLE_TURNS
#include "fill_sockets_race.c"
