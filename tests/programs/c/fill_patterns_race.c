// Patterns and other alphabets: what was found goes where another thread looks.
#include <glob.h>
#include <iconv.h>
#include <regex.h>
#include <wordexp.h>

#include "../include/touch.h"

static regex_t compiled, known, without;
static regmatch_t matches[2], unused[2];
static char text[8] = "aab", message[64], out[8], in[8] = "x";
static char *from = in, *to = out;
static size_t left = 1, room = 8;
static glob_t paths;
static wordexp_t words;

static void use(void) {
    turn(1);
    TOUCH(compiled, 0); //~ RACE regcomp
    TOUCH(matches, 15); //~ RACE regexec
    text[0] = 'a'; //~ RACE text
    // Nobody asked for these.
    TOUCH(unused, 0);
    TOUCH(message, 0); //~ RACE regerror
    TOUCH(paths, 0); //~ RACE glob
    TOUCH(words, 8); //~ RACE wordexp
    TOUCH(out, 0); //~ RACE iconv
    in[0] = 'x'; //~ RACE in
    left = 1; //~ RACE left
    next_turn();
}

static void functions(void) {
    turn(2);
    MUST(regcomp(&compiled, "a*", 0) == 0); //~ RACE regcomp
    MUST(regexec(&known, text, 2, matches, 0) == 0); //~ RACE regexec text
    MUST(regexec(&without, "aab", 2, unused, 0) == 0);
    regerror(REG_NOMATCH, &known, message, sizeof message); //~ RACE regerror
    MUST(glob("/", 0, NULL, &paths) == 0); //~ RACE glob
    MUST(wordexp("a b", &words, 0) == 0); //~ RACE wordexp
    iconv_t converter = iconv_open("UTF-16LE", "UTF-8");
    MUST(iconv(converter, &from, &left, &to, &room) == 0); //~ RACE iconv in left
    next_turn();
}

int main(void) {
    MUST(regcomp(&known, "a(a*)", REG_EXTENDED) == 0 && regcomp(&without, "a", REG_NOSUB) == 0);
    together(use, functions);
    printf("%d %zu %zu\n", (int)matches[1].rm_so, paths.gl_pathc, words.we_wordc);
}
