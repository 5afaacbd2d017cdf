// Memory of one thread that is handed from function to function, and variables that are set before there are threads.
// flags: -O2
#include "../include/threads.h"

#define NOINLINE __attribute__((noinline))

struct stack {
    long used, items[64];
};

static long limit, squares[64];
static const char *word;

static NOINLINE void push(struct stack *stack, long item) {
    stack->items[stack->used++] = item;
}

static NOINLINE long pop(struct stack *stack) {
    return stack->items[--stack->used];
}

static NOINLINE void fill(struct stack *stack, long depth) {
    if (depth > 0) {
        push(stack, squares[depth]);
        fill(stack, depth - 1);
    }
}

static void *work(void *unused) {
    struct stack local = {0};
    struct stack *block = calloc(1, sizeof *block);
    long sum = 0;
    for (int round = 0; round < 100; round++) {
        fill(&local, limit);
        fill(block, limit / 2);
        while (local.used > 0)
            sum += pop(&local);
        while (block->used > 0)
            sum += pop(block);
    }
    free(block);
    MUST(sum == 100 * (85344 + 10416) && word[0] == 's');
    return unused;
}

static NOINLINE void square(long number) {
    squares[number] = number * number;
}

int main(int count, char **words) {
    (void)words;
    printf("%d\n", count);
    limit = 62 + count;
    word = "squares";
    for (long i = 0; i <= limit; i++)
        square(i);
    crowd(4, work);
    puts(word);
}
