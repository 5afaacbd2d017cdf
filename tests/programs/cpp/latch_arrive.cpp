// Latches: arrive_and_wait, try_wait, several counts at once, one after another.
#include <latch>

#include "../include/threads.hpp"

int main() {
    long sum = 0;
    for (int round = 0; round < 50; round++) {
        std::latch first(4), second(8);
        int cells[4], sums[4];
        crowd(4, [&](int n) {
            cells[n] = n + round;
            first.arrive_and_wait();
            sums[n] = cells[0] + cells[1] + cells[2] + cells[3];
            second.count_down(2);
            while (!second.try_wait()) {
                std::this_thread::yield();
            }
            cells[n] = sums[(n + 1) % 4];
        });
        sum += cells[3];
    }
    std::printf("%ld\n", sum);
}
