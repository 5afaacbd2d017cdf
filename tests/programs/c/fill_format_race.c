// printf and scanf, with all kinds of arguments: strings that are printed are read, and what is scanned is written.
#include "../include/touch.h"

#include <stdarg.h>
#include <wchar.h>

static char name[8] = "name", part[8] = "partial", into[64], bounded[4], listed[16], *made, *made_by_list;
static wchar_t wide[8] = L"wide";
static int counted, a, c;
static short b;
static signed char d;
static long e;
static float f;
static double g;
static long double h;
static void *p;
static char word[8], set[8], characters[4], *allocated;
static int so_far, ignored;
static char scanned[128] = "1 2 3 4 5 6.5 7.5 8.5 0x9 word sets abcd made 99";

static int by_list(char *to, size_t room, const char *form, ...) {
    va_list list;
    va_start(list, form);
    int result = vsnprintf(to, room, form, list); //~ RACE vsnprintf
    va_end(list);
    return result;
}

static int allocates(char **to, const char *form, ...) {
    va_list list;
    va_start(list, form);
    int result = vasprintf(to, form, list); //~ RACE vasprintf
    va_end(list);
    return result;
}

static void use(void) {
    turn(1);
    name[3] = 'e'; //~ RACE name
    part[3] = 't'; //~ RACE part
    // Not printed.
    part[4] = 'i';
    wide[3] = L'e'; //~ RACE wide
    TOUCH(into, 0); //~ RACE sprintf
    TOUCH(bounded, 3); //~ RACE snprintf
    TOUCH(listed, 0); //~ RACE vsnprintf
    TOUCH(made, 0); //~ RACE asprintf
    TOUCH(made_by_list, 0); //~ RACE vasprintf
    TOUCH(counted, 0); //~ RACE counted
    a = 0; //~ RACE a
    b = 0; //~ RACE b
    c = 0; //~ RACE c
    d = 0; //~ RACE d
    e = 0; //~ RACE e
    f = 0; //~ RACE f
    g = 0; //~ RACE g
    h = 0; //~ RACE h
    p = NULL; //~ RACE p
    TOUCH(word, 4); //~ RACE word
    TOUCH(set, 0); //~ RACE set
    TOUCH(characters, 3); //~ RACE characters
    allocated = NULL; //~ RACE allocated
    so_far = 0; //~ RACE so_far
    ignored = 0;
    scanned[0] = '1'; //~ RACE scanned
    next_turn();
}

static void functions(void) {
    turn(2);
    FILE *out = tmpfile();
    fprintf(out, "%d %5.2f %Lf %s", 1, 2.0, 3.0L, name); //~ RACE name
    fprintf(out, "%*d%c%%%-8.*s", 4, 1, 'c', 4, part); //~ RACE part
    fprintf(out, "%ls %p", wide, (void *)out); //~ RACE wide
    sprintf(into, "%d", 1); //~ RACE sprintf
    snprintf(bounded, sizeof bounded, "%ld", 123456789L); //~ RACE snprintf
    by_list(listed, sizeof listed, "%d %f", 1, 2.0);
    MUST(asprintf(&made, "%d", 1) == 1); //~ RACE asprintf
    MUST(allocates(&made_by_list, "%s", "x") == 1);
    fprintf(out, "%d%n", 1, &counted); //~ RACE counted
    int next = 0;
    sscanf(scanned, "%d", &next); //~ RACE scanned
    const char *text = "1 2 3 4 5 6.5 7.5 8.5 0x9 word sets abcd made 99";
    MUST(sscanf(text, "%d %hd", &a, &b) == 2); //~ RACE a b
    MUST(sscanf(text, "%x %*d %*d %hhd %ld", &c, &d, &e) == 3); //~ RACE c d e
    MUST(sscanf(text, "%*s%*s%*s%*s%*s %f %lf %Lf", &f, &g, &h) == 3); //~ RACE f g h
    MUST(sscanf("0x9 word sets", "%p %s %[a-z]", &p, word, set) == 3); //~ RACE p word set
    // The last one fails, and is not written.
    MUST(sscanf("abcd made x", "%4c %ms %n%*c%d", characters, &allocated, &next, &ignored) == 2); //~ RACE characters allocated
    MUST(sscanf("12 3", "%*d%n%d", &so_far, &next) == 1); //~ RACE so_far
    next_turn();
}

int main(void) {
    together(use, functions);
    printf("%d %d %d %d %ld %g %g %Lg\n", a, b, c, d, e, f, g, h);
}
