#include "race.h"

// deep n: a race below 100,000 frames. deep m, deep t: a race, then the stack of main or of a thread overflows.
static int *volatile kept;

static int down(int left, int *above) {
    int own = left;
    if (left == 0) {
        racer(0);
        return *above;
    }
    return down(left - 1, &own) + own % 2;
}

static int overflow(int depth) {
    int own[64];
    if (depth < 0)
        return 0;
    kept = own;
    own[depth % 64] = depth;
    return overflow(depth + 1) + own[3];
}

static void *deep(void *unused) {
    (void)unused;
    int top = 0;
    down(100000, &top);
    return 0;
}

static void *endless(void *unused) {
    (void)unused;
    overflow(1);
    return 0;
}

int main(int count, char **arguments) {
    int how = count > 1 ? *arguments[1] : 'n';
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 20);
    pthread_barrier_init(&meeting, 0, 2);
    two(&attributes, how == 'n' ? deep : racer);
    puts("back");
    fflush(stdout);
    if (how == 'm')
        return overflow(1);
    pthread_t thread;
    if (how == 't' && !pthread_create(&thread, 0, endless, 0))
        pthread_join(thread, 0);
    return 4;
}
