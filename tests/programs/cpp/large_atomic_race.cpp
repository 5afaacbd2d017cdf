// A large atomic with relaxed order publishes nothing.
// flags: -latomic
#include <atomic>

#include "../include/threads.hpp"

struct Large {
    long a, b, c;
};

std::atomic<Large> large;
int data;

int main() {
    together(
        [] {
            data = 5; //~ RACE data
            large.store(Large{1, 2, 3}, std::memory_order_relaxed);
        },
        [] {
            while (large.load(std::memory_order_relaxed).c != 3) {
                std::this_thread::yield();
            }
            std::printf("%d\n", data); //~ RACE data
        });
}
