// The older functions for shared pointers protect from one another, not from a plain copy.
#include <memory>

#include "../include/threads.hpp"

std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    int seen = 0;
    auto old = current;
    together(
        [&] {
            auto copy = current; //~ RACE pointer
            seen = *copy;
            next_turn();
        },
        [] {
            auto next = std::make_shared<int>(2);
            turn(2);
            std::atomic_store(&current, next); //~ RACE pointer
        });
    std::printf("%d %d\n", seen, *current);
}
