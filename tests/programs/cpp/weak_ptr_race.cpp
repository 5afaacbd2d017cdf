// lock() is safe against the last owner, not against another thread that assigns the weak pointer.
#include <memory>

#include "../include/threads.hpp"

std::weak_ptr<int> watched;

int main() {
    auto one = std::make_shared<int>(1), two = std::make_shared<int>(2);
    watched = one;
    int seen = 0;
    together(
        [&] {
            if (auto strong = watched.lock()) { //~ RACE pointer
                seen = *strong;
            }
            next_turn();
        },
        [&] {
            turn(2);
            watched = two; //~ RACE pointer
        });
    std::printf("%d %d\n", seen, *watched.lock());
}
