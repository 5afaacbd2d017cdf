// An engine that two threads share.
// orders: both
#include <random>

#include "../include/threads.hpp"

std::minstd_rand engine(7);
std::normal_distribution<double> distribution;

int main() {
    crowd(2, [](int n) {
        turn(n + 1);
        distribution(engine); //~ RACE engine
        next_turn();
    });
    std::printf("%d\n", (int)engine() > 0);
}
