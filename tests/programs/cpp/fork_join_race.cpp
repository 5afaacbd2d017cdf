// The merge does not wait for the left half.
#include <algorithm>

#include "../include/threads.hpp"

int numbers[4] = {4, 2, 3, 1};

int main() {
    std::thread left([] {
        if (numbers[1] < numbers[0]) {
            int larger = numbers[0];
            numbers[0] = numbers[1];
            numbers[1] = larger; //~ RACE sum
        }
        next_turn();
    });
    turn(2);
    int last = numbers[1]; //~ RACE sum
    left.join();
    std::printf("%d\n", last);
}
