// Waiting with a relaxed ordering wakes up, but does not acquire.
#include <atomic>

#include "../include/threads.hpp"

std::atomic<int> stage;
int data;

int main() {
    int seen = 0;
    together(
        [] {
            data = 1; //~ RACE data
            stage.store(1, std::memory_order_release);
            stage.notify_one();
        },
        [&] {
            stage.wait(0, std::memory_order_relaxed);
            seen = data; //~ RACE data
        });
    std::printf("%d\n", seen);
}
