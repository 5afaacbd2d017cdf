// What fill_queue_race.c does with message queues, one thread after the other.
// flags: -lrt
#define VISIBLE_TURNS
#include "fill_queue_race.c"
