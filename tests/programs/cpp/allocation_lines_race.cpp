// Blocks that one function allocates through the C++ library at several lines: each is told with its own.
#include "../include/threads.hpp"

int *one, *two;
char *three;

int main() {
    for (int i = 0; i < 3; i++) {
        delete one;
        one = new int(1);
        delete two;
        two = new int(2);
    }
    three = new char[100]();
    together(
        [] {
            turn(1);
            ++*one;     //~ RACE one
            ++*two;     //~ RACE two
            ++three[7]; //~ RACE three
            next_turn();
        },
        [] {
            turn(2);
            ++*one;     //~ RACE one
            ++*two;     //~ RACE two
            ++three[7]; //~ RACE three
            next_turn();
        });
    std::printf("%d %d %d\n", *one, *two, three[7]);
}
