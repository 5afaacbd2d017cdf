// Calling a const std::function is no reading: what the closure keeps is changed, here by two threads.
// orders: both
#include <functional>

#include "../include/threads.hpp"

int main() {
    const std::function<int()> count = [calls = 0]() mutable {
        return ++calls; //~ RACE calls
    };
    together(
        [&] {
            turn(1);
            count();
            next_turn();
        },
        [&] {
            turn(2);
            count();
            next_turn();
        });
    std::printf("%d\n", count());
}
