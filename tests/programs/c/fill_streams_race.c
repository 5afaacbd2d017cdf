// Functions of streams read and fill what another thread uses.
#include "../include/touch.h"

static char line[8], put[8] = "put", print[8] = "print", word[8], *grown, *part;
static size_t room, part_room;
static int number, scanned;
static fpos_t position;
static FILE *stream;

static void use(void) {
    turn(1);
    TOUCH(put, 0); //~ RACE fputs
    TOUCH(print, 1); //~ RACE fprintf
    TOUCH(position, 0); //~ RACE fgetpos
    TOUCH(line, 4); //~ RACE fgets
    // Behind the line's end nothing is written.
    TOUCH(line, 5);
    TOUCH(grown, 0); //~ RACE getline
    TOUCH(room, 7); //~ RACE room
    TOUCH(part, 7); //~ RACE getdelim
    TOUCH(number, 0); //~ RACE fscanf
    TOUCH(word, 3); //~ RACE word
    next_turn();
}

static void functions(void) {
    turn(2);
    FILE *out = tmpfile();
    fputs(put, out); //~ RACE fputs
    fprintf(out, "%s", print); //~ RACE fprintf
    MUST(fgetpos(stream, &position) == 0); //~ RACE fgetpos
    MUST(fgets(line, sizeof line, stream)); //~ RACE fgets
    MUST(getline(&grown, &room, stream) == 4); //~ RACE getline room
    MUST(getdelim(&part, &part_room, ';', stream) == 5); //~ RACE getdelim
    MUST(fscanf(stream, "%d %s", &number, word) == 2); //~ RACE fscanf word
    scanned = fscanf(stream, "%d", &scanned);
    printf("%s", part);
    next_turn();
}

int main(void) {
    stream = tmpfile();
    fputs("one\ntwo\nfour;4 six\n", stream);
    rewind(stream);
    line[4] = 'x';
    together(use, functions);
    puts(grown);
}
