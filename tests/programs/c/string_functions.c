// String functions read no further than they must: another thread writes behind.
#include "../include/threads.h"

char a[32] = "length", b[32] = "different", c[32] = "needle", d[32] = "from", e[32], f[32] = "bounded";
char *volatile other = "diverse";
size_t seen;

static void functions(void) {
    for (int i = 0; i < 100; i++) {
        seen += strlen(a);
        seen += strcmp(b, other) == 0;
        seen += strncmp(f, other, 3) == 0;
        seen += strchr(c, 'd') != NULL;
        seen += strnlen(f, 3);
        strcpy(e, d);
    }
}

static void bytes(void) {
    for (int i = 0; i < 100; i++) {
        a[7]++;
        // The strings differ in their third letters.
        b[4] = 'x';
        c[4] = 'x';
        d[5]++;
        e[5]++;
        f[3] = 'x';
    }
}

int main(void) {
    together(functions, bytes);
    printf("%zu %s %s\n", seen, e, f);
}
