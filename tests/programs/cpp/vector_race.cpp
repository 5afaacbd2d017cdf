// push_back against a read of an element: the buffer moves.
#include <vector>

#include "../include/threads.hpp"

int main() {
    std::vector<int> numbers = {1, 2, 3};
    int seen = 0;
    together(
        [&] {
            seen = numbers[1]; //~ RACE vector
            next_turn();
        },
        [&] {
            turn(2);
            numbers.push_back(4); //~ RACE vector
        });
    std::printf("%d %zu\n", seen, numbers.size());
}
