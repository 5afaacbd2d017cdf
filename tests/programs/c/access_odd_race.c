// Copies of 3, 5, 12 and 100 bytes race with one byte at their end.
// orders: both
#include "../include/threads.h"

struct three { char bytes[3]; } three, three_from = {{1, 2, 3}};
struct five { char bytes[5]; } five, five_from = {{1, 2, 3, 4, 5}};
struct twelve { int words[3]; } twelve, twelve_from = {{1, 2, 3}};
struct hundred { char bytes[100]; } hundred, hundred_from = {.bytes[99] = 7};
int seen;

static void writer(void) {
    turn(1);
    three = three_from; //~ RACE three
    five = five_from; //~ RACE five
    twelve = twelve_from; //~ RACE twelve
    hundred = hundred_from; //~ RACE hundred
    next_turn();
}

static void reader(void) {
    turn(2);
    seen += three.bytes[2]; //~ RACE three
    seen += five.bytes[4]; //~ RACE five
    seen += twelve.words[2]; //~ RACE twelve
    seen += hundred.bytes[99]; //~ RACE hundred
    next_turn();
}

int main(void) {
    together(writer, reader);
    printf("%d\n", seen);
}
