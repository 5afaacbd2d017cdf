// The same functions by the names that checks of buffers give them.
// flags: -O2 -D_FORTIFY_SOURCE=2
#include "../include/touch.h"

#include <wchar.h>

static char one[8] = "one", two[8] = "two", printed[16], bounded[16], line[16];
static size_t room;
static char *grown;
static FILE *volatile out;

static void use(void) {
    turn(1);
    one[0] = 'o'; //~ RACE fprintf
    two[0] = 't'; //~ RACE printf
    TOUCH(printed, 0); //~ RACE sprintf
    TOUCH(bounded, 0); //~ RACE snprintf
    TOUCH(room, 0); //~ RACE getline
    TOUCH(line, 0); //~ RACE fgets
    next_turn();
}

static void functions(void) {
    turn(2);
    fprintf(out, "%s %d\n", one, 1); //~ RACE fprintf
    printf("%s %d\n", two, 2); //~ RACE printf
    sprintf(printed, "%d", rand()); //~ RACE sprintf
    snprintf(bounded, sizeof bounded, "%d", rand()); //~ RACE snprintf
    fputs("line\n", out);
    rewind(out);
    MUST(getline(&grown, &room, out) == 6); //~ RACE getline
    MUST(fgets(line, sizeof line, out)); //~ RACE fgets
    next_turn();
}

int main(void) {
    out = tmpfile();
    together(use, functions);
}
