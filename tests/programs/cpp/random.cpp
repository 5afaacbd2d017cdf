// Engines of each thread; distributions of each call; a shared seed sequence that is only read.
#include <algorithm>
#include <numeric>
#include <random>

#include "../include/threads.hpp"

thread_local std::mt19937 engine(7);

int main() {
    unsigned long sums[4] = {};
    const std::seed_seq seeds = {1, 2, 3};
    crowd(4, [&](int n) {
        std::vector<unsigned> seed(seeds.size());
        seeds.param(seed.begin());
        std::seed_seq own(seed.begin(), seed.end());
        std::mt19937_64 wide(own);
        std::vector<int> numbers(50);
        std::iota(numbers.begin(), numbers.end(), 0);
        for (int i = 0; i < 20; i++) {
            sums[n] += engine() + std::uniform_int_distribution(0, 9)(wide);
            std::shuffle(numbers.begin(), numbers.end(), engine);
        }
        sums[n] += numbers[n] * 0 + std::random_device()() * 0;
    });
    std::printf("%lu %d\n", sums[0], sums[0] == sums[3]);
}
