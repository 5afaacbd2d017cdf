// String functions race with a byte that they read, up to and with the one that ends the string, or write.
// orders: both
#include "../include/threads.h"

// Volatile pointers keep the compiler from computing any of this itself.
char a[16] = "length", b[16] = "left", c[16] = "needle", d[16] = "from", e[16], f[32] = "start", g[16] = "copy";
char *volatile other = "left";
size_t seen;
char *duplicate;

static void functions(void) {
    turn(1);
    seen += strlen(a); //~ RACE strlen
    seen += strcmp(b, other) == 0; //~ RACE strcmp
    seen += strchr(c, 'd') != NULL; //~ RACE strchr
    strcpy(e, d); //~ RACE strcpy-from strcpy-to
    strcat(f, other); //~ RACE strcat-from strcat-to
    duplicate = strdup(g); //~ RACE strdup
    next_turn();
}

static void bytes(void) {
    turn(2);
    a[6] = 0; //~ RACE strlen
    b[4] = 0; //~ RACE strcmp
    c[2] = 'e'; //~ RACE strchr
    d[4] = 0; //~ RACE strcpy-from
    e[4] = 0; //~ RACE strcpy-to
    f[0] = 's'; //~ RACE strcat-from
    f[9] = 0; //~ RACE strcat-to
    g[0] = 'c'; //~ RACE strdup
    next_turn();
}

int main(void) {
    together(functions, bytes);
    printf("%zu %s %s %s\n", seen, e, f, duplicate);
    free(duplicate);
}
