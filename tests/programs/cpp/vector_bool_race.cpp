// Elements of a vector<bool> share words.
// orders: both
#include <vector>

#include "../include/threads.hpp"

int main() {
    std::vector<bool> flags(64);
    crowd(2, [&](int n) {
        turn(n + 1);
        flags[3 + n] = true; //~ RACE word
        next_turn();
    });
    std::printf("%d %d\n", int(flags[3]), int(flags[4]));
}
