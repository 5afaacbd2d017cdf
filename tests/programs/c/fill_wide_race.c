// Wide characters, and characters of several bytes, are read and written where another thread is.
#include <wchar.h>

#include "../include/touch.h"

static wchar_t a[8], b[8] = L"be", c[8] = L"find", d[8] = L"copy", e[8], f, g, k[8] = L"42;";
static char h[8], i[8], j[8], m[8] = "many";
static wchar_t *volatile one = L"one", *after;
static mbstate_t state;

static void use(void) {
    turn(1);
    a[3] = 0; //~ RACE wcsncpy
    b[2] = 0; //~ RACE wcscat
    c[1] = L'i'; //~ RACE wcschr
    // Behind what was looked for.
    c[2] = L'n';
    d[4] = 0; //~ RACE wcsdup
    e[4] = 0; //~ RACE mbstowcs
    m[0] = 'm'; //~ RACE many
    f = 0; //~ RACE mbtowc
    g = 0; //~ RACE mbrtowc
    TOUCH(h, 3); //~ RACE wcstombs
    TOUCH(i, 0); //~ RACE wctomb
    TOUCH(j, 0); //~ RACE wcrtomb
    k[2] = L';'; //~ RACE wcstol
    after = NULL; //~ RACE after
    next_turn();
}

static void functions(void) {
    turn(2);
    wcsncpy(a, one, 8); //~ RACE wcsncpy
    wcscat(b, one); //~ RACE wcscat
    MUST(wcschr(c, L'i') == c + 1); //~ RACE wcschr
    free(wcsdup(d)); //~ RACE wcsdup
    MUST(mbstowcs(e, m, 8) == 4); //~ RACE mbstowcs many
    MUST(mbtowc(&f, "x", 1) == 1); //~ RACE mbtowc
    MUST(mbrtowc(&g, "x", 1, &state) == 1); //~ RACE mbrtowc
    MUST(wcstombs(h, one, 8) == 3); //~ RACE wcstombs
    MUST(wctomb(i, L'x') == 1); //~ RACE wctomb
    MUST(wcrtomb(j, L'x', &state) == 1); //~ RACE wcrtomb
    MUST(wcstol(k, &after, 10) == 42); //~ RACE wcstol after
    next_turn();
}

int main(void) {
    together(use, functions);
    printf("%ls %ls %ls\n", a, b, e);
}
