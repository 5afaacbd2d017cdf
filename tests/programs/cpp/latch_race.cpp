// What is written after the latch was counted down is not covered.
#include <latch>

#include "../include/threads.hpp"

int main() {
    std::latch latch(1);
    int early = 0, late = 0, sum = 0;
    together(
        [&] {
            early = 1;
            latch.count_down();
            late = 1; //~ RACE late
            next_turn();
        },
        [&] {
            latch.wait();
            sum += early;
            turn(2);
            sum += late; //~ RACE late
        });
    std::printf("%d\n", sum);
}
