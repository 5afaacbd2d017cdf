// Rarer functions for text, streams and numbers that read or fill what another thread uses.
// flags: -lm
#include "../include/touch.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <unistd.h>
#include <wchar.h>

#define V(function, ...) static int my_##function(__VA_ARGS__, ...)

static char *ends[5], numbers[3][8] = {"1", "2", "3"}, text[4] = "abc", bytes[4], string[8] = "text", listed[16];
static char out_text[5][8] = {"a", "b", "c", "d", "e"}, message[64], *delimited;
static size_t room;
static wchar_t wide[8] = L"wide", line[8];
static int quotient, scanned, by_file;
static int key = 1;
static void *tree, *whole;
static FILE *file, *wide_file;
static int pipe_ends[2];

V(vprintf, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vprintf(form, list); //~ RACE vprintf
    va_end(list);
    return result;
}

V(vfprintf, FILE *to, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vfprintf(to, form, list); //~ RACE vfprintf
    va_end(list);
    return result;
}

V(vdprintf, int to, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vdprintf(to, form, list); //~ RACE vdprintf
    va_end(list);
    return result;
}

V(vsprintf, char *to, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vsprintf(to, form, list); //~ RACE vsprintf
    va_end(list);
    return result;
}

V(vsscanf, const char *from, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vsscanf(from, form, list); //~ RACE vsscanf
    va_end(list);
    return result;
}

V(vfscanf, FILE *from, const char *form) {
    va_list list;
    va_start(list, form);
    int result = vfscanf(from, form, list); //~ RACE vfscanf
    va_end(list);
    return result;
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void use(void) {
    turn(1);
    ends[0] = NULL; //~ RACE strtoll
    ends[1] = NULL; //~ RACE strtoull
    ends[2] = NULL; //~ RACE strtoimax
    ends[3] = NULL; //~ RACE strtof
    numbers[0][0] = '1'; //~ RACE atol
    numbers[1][0] = '2'; //~ RACE atoll
    out_text[0][0] = 'a'; //~ RACE vprintf
    out_text[1][0] = 'b'; //~ RACE vfprintf
    out_text[2][0] = 'c'; //~ RACE vdprintf
    out_text[3][0] = 'd'; //~ RACE dprintf
    out_text[4][0] = 'e'; //~ RACE printf
    listed[0] = 0; //~ RACE vsprintf
    scanned = 0; //~ RACE vsscanf
    by_file = 0; //~ RACE vfscanf
    text[0] = 'a'; //~ RACE fputs_unlocked
    bytes[0] = 0; //~ RACE fread_unlocked
    string[0] = 't'; //~ RACE fwrite_unlocked
    message[0] = 0; //~ RACE fgets_unlocked
    wide[3] = L'e'; //~ RACE wcsrchr
    line[0] = 0; //~ RACE fgetws
    TOUCH(room, 0); //~ RACE getdelim
    quotient = 0; //~ RACE remquof
    tree = whole; //~ RACE tdelete
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(strtoll("1", &ends[0], 10) == 1); //~ RACE strtoll
    MUST(strtoull("1", &ends[1], 10) == 1); //~ RACE strtoull
    MUST(strtoimax("1", &ends[2], 10) == 1); //~ RACE strtoimax
    MUST(strtof("1", &ends[3]) == 1); //~ RACE strtof
    MUST(atol(numbers[0]) == 1); //~ RACE atol
    MUST(atoll(numbers[1]) == 2); //~ RACE atoll
    my_vprintf("%s", out_text[0]);
    my_vfprintf(file, "%s", out_text[1]);
    my_vdprintf(pipe_ends[1], "%s", out_text[2]);
    dprintf(pipe_ends[1], "%s", out_text[3]); //~ RACE dprintf
    printf("%s\n", out_text[4]); //~ RACE printf
    my_vsprintf(listed, "%d", 1);
    MUST(my_vsscanf("1", "%d", &scanned) == 1);
    rewind(file);
    fputs_unlocked(text, file); //~ RACE fputs_unlocked
    fwrite_unlocked(string, 1, 4, file); //~ RACE fwrite_unlocked
    fputs("1 line\nrest;", file);
    rewind(file);
    MUST(fread_unlocked(bytes, 1, 3, file) == 3); //~ RACE fread_unlocked
    rewind(file);
    fseek(file, 7, SEEK_SET);
    MUST(my_vfscanf(file, "%d", &by_file) == 1);
    MUST(fgets_unlocked(message, sizeof message, file)); //~ RACE fgets_unlocked
    MUST(getdelim(&delimited, &room, ';', file) == 5); //~ RACE getdelim
    MUST(wcsrchr(wide, L'w') == wide); //~ RACE wcsrchr
    MUST(fgetws(line, 8, wide_file)); //~ RACE fgetws
    remquof(5, 2, &quotient); //~ RACE remquof
    MUST(tdelete(&key, &tree, compare)); //~ RACE tdelete
    next_turn();
}

int main(void) {
    file = tmpfile();
    wide_file = tmpfile();
    fputws(L"wide\n", wide_file);
    rewind(wide_file);
    MUST(pipe(pipe_ends) == 0);
    MUST(tsearch(&key, &tree, compare));
    whole = tree;
    together(use, functions);
}
