// What fill_more_text_race.c does with further functions on text, one thread after the other.
// flags: -lm
#define VISIBLE_TURNS
#include "fill_more_text_race.c"
