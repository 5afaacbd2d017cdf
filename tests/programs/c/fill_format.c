// Text is printed into buffers and scanned from them, by many threads, each with its own.
#include "../include/threads.h"

#include <stdarg.h>
#include <wchar.h>

static char *const shared = "shared";

static int by_list(char *to, size_t room, const char *form, ...) {
    va_list list, again;
    va_start(list, form);
    va_copy(again, list);
    int result = vsnprintf(to, room, form, list);
    MUST(vsnprintf(NULL, 0, form, again) == result);
    va_end(again);
    va_end(list);
    return result;
}

static void *work(void *argument) {
    for (int i = 0; i < 200; i++) {
        char text[128], word[16], *made;
        // More arguments than there are registers, and some that have no place in one.
        by_list(text, sizeof text, "%d %d %d %d %d %d %d %g %g %g %g %g %g %g %g %g %Lg %s", i, 1, 2, 3, 4, 5, 6, 0.5, 1.5,
                2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5L, shared);
        int first, last, numbers[5];
        double fraction, fractions[8];
        long double large;
        MUST(sscanf(text, "%d %d %d %d %d %d %d %lg %lg %lg %lg %lg %lg %lg %lg %lg %Lg %15s", &first, numbers, numbers + 1,
                    numbers + 2, numbers + 3, numbers + 4, &last, &fraction, fractions, fractions + 1, fractions + 2,
                    fractions + 3, fractions + 4, fractions + 5, fractions + 6, fractions + 7, &large, word) == 18);
        MUST(first == i && last == 6 && fraction == 0.5 && fractions[7] == 8.5 && large == 9.5L);
        MUST(asprintf(&made, "%s %ls %.3s %c", word, L"wide", shared, 'x') == 17);
        MUST(strcmp(made, "shared wide sha x") == 0);
        free(made);
        MUST(snprintf(text, 4, "%s", shared) == 6 && strcmp(text, "sha") == 0);
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    puts(shared);
}
