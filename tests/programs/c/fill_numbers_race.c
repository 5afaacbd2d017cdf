// Numbers in text, words of a line: what ends them is told where another thread looks.
#include "../include/touch.h"

#include <inttypes.h>
#include <unistd.h>

static char *after_long, *after_double, *after_max, digits[16] = "123x", more[16] = "45", last[16] = "6.5;";
static char line[16] = "one two", fields[16] = "a,b", *next_word, *next_field = fields;
static char message[64], from[8] = "from", transformed[16], pair[4] = "ab", swapped[4], collated[8] = "c";

static void use(void) {
    turn(1);
    TOUCH(after_long, 0); //~ RACE strtol
    digits[3] = 'x'; //~ RACE digits
    // Behind the character that ends the number.
    digits[4] = 'x';
    TOUCH(after_double, 7); //~ RACE strtod
    TOUCH(after_max, 0); //~ RACE strtoumax
    more[1] = '5'; //~ RACE atoi
    last[3] = ';'; //~ RACE atof
    line[3] = ' '; //~ RACE strtok_r
    next_word = NULL; //~ RACE next_word
    fields[1] = ','; //~ RACE strsep
    next_field = fields; //~ RACE next_field
    from[0] = 'f'; //~ RACE from
    TOUCH(transformed, 0); //~ RACE strxfrm
    pair[1] = 'b'; //~ RACE pair
    TOUCH(swapped, 1); //~ RACE swab
    collated[0] = 'c'; //~ RACE strcoll
    TOUCH(message, 0); //~ RACE strerror_r
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(strtol("1 ", &after_long, 10) == 1); //~ RACE strtol
    MUST(strtoul(digits, NULL, 10) == 123); //~ RACE digits
    MUST(strtod("1.5 ", &after_double) == 1.5); //~ RACE strtod
    MUST(strtoumax("1", &after_max, 16) == 1); //~ RACE strtoumax
    MUST(atoi(more) == 45); //~ RACE atoi
    MUST(atof(last) == 6.5); //~ RACE atof
    MUST(strtok_r(line, " ", &next_word) == line); //~ RACE strtok_r next_word
    MUST(strsep(&next_field, ",") == fields); //~ RACE strsep next_field
    MUST(strxfrm(transformed, from, sizeof transformed) == 4); //~ RACE from strxfrm
    swab(pair, swapped, 2); //~ RACE pair swab
    MUST(strcoll(collated, "c") == 0); //~ RACE strcoll
    // A number that no error has.
    MUST(strerror_r(12345, message, sizeof message) == message); //~ RACE strerror_r
    next_turn();
}

int main(void) {
    together(use, functions);
    printf("%s %s %s\n", line, fields, swapped);
}
