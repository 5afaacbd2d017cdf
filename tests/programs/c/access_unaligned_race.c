// Unaligned accesses that overlap in one byte, within a word and across words.
// orders: both
#include "../include/threads.h"

struct __attribute__((packed, aligned(8))) record {
    char head;
    int four;
    long eight;
    short two;
};

struct record record;
char last[64];
int seen;

static void writer(void) {
    turn(1);
    record.four = 0x01020304; //~ RACE four
    record.eight = 0x0102030405060708; //~ RACE eight
    __builtin_memcpy(last + 5, "abcdefgh", 8); //~ RACE copy
    next_turn();
}

static void reader(void) {
    turn(2);
    seen += *((char *)&record + 4); //~ RACE four
    seen += *((char *)&record + 12); //~ RACE eight
    seen += last[12]; //~ RACE copy
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%d\n", seen);
}
