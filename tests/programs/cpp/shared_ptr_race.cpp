// The counts are atomic, the pointer itself is not: one thread assigns it while another copies it.
#include <memory>

#include "../include/threads.hpp"

std::shared_ptr<int> current = std::make_shared<int>(1);

int main() {
    int seen = 0;
    std::shared_ptr<int> old = current;
    together(
        [&] {
            std::shared_ptr<int> copy = current; //~ RACE pointer
            next_turn();
            turn(3);
            seen = *copy;
        },
        [] {
            turn(2);
            current = std::make_shared<int>(2); //~ RACE pointer
            next_turn();
        });
    std::printf("%d %d\n", seen, *current);
}
