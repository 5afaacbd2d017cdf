// A ring whose consumer does not acquire what was put in, and whose producer does not acquire that a cell is free again.
#include <atomic>

#include "../include/threads.hpp"

int cells[1];
std::atomic<unsigned> head, tail;

int main() {
    int seen = 0;
    together(
        [] {
            cells[0] = 1; //~ RACE published
            tail.store(1, std::memory_order_release);
            next_turn();
            turn(3);
            while (head.load(std::memory_order_relaxed) != 1) {
            }
            cells[0] = 2; //~ RACE taken
            tail.store(2, std::memory_order_release);
        },
        [&] {
            turn(2);
            while (tail.load(std::memory_order_relaxed) == 0) {
            }
            seen = cells[0]; //~ RACE published taken
            head.store(1, std::memory_order_release);
            next_turn();
        });
    std::printf("%d\n", seen);
}
