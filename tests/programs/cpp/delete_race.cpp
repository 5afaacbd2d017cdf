// delete against a use, for an object and for an array.
#include "../include/threads.hpp"

int main() {
    int *one = new int(1), *many = new int[100]();
    int seen = 0;
    together(
        [&] {
            seen = *one; //~ RACE one
            seen += many[50]; //~ RACE many
            next_turn();
        },
        [&] {
            turn(2);
            delete one; //~ RACE one
            delete[] many; //~ RACE many
        });
    std::printf("%d\n", seen);
}
