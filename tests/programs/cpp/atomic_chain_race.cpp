// A chain with a relaxed link: the last thread comes after the second, who is not after the first.
#include <atomic>

#include "../include/threads.hpp"

std::atomic<int> first, second;
int data, more;

int main() {
    int seen = 0;
    crowd(3, [&](int n) {
        switch (n) {
        case 0:
            data = 1; //~ RACE data
            first.store(1, std::memory_order_release);
            break;
        case 1:
            while (first.load(std::memory_order_relaxed) != 1) {
                std::this_thread::yield();
            }
            more = 2;
            second.exchange(1, std::memory_order_acq_rel);
            break;
        default:
            while (second.load(std::memory_order_acquire) != 1) {
                std::this_thread::yield();
            }
            seen = more + data; //~ RACE data
        }
    });
    std::printf("%d\n", seen);
}
