// From thread to thread over several atomics of several kinds: each takes what the one before it gave.
#include <atomic>

#include "../include/threads.hpp"

std::atomic<int> first;
std::atomic<bool> second;
std::atomic<int *> third;
int fourth;
struct Pair {
    int a, b;
} data;

int main() {
    int sum = 0;
    for (int round = 1; round <= 50; round++) {
        data = {};
        crowd(5, [&](int n) {
            switch (n) {
            case 0:
                data.a = round;
                first.fetch_add(1, std::memory_order_release);
                break;
            case 1:
                // A failed exchange acquires, too.
                for (int expected = -1; expected != round;) {
                    expected = -1;
                    first.compare_exchange_strong(expected, 0, std::memory_order_relaxed, std::memory_order_acquire);
                    std::this_thread::yield();
                }
                data.b = data.a;
                second.exchange(true, std::memory_order_acq_rel);
                break;
            case 2:
                while (!second.exchange(false, std::memory_order_acq_rel)) {
                    std::this_thread::yield();
                }
                third.store(&data.b, std::memory_order_release);
                break;
            case 3: {
                int *found;
                while (!(found = third.load(std::memory_order_consume))) {
                    std::this_thread::yield();
                }
                data.a += *found;
                std::atomic_ref(fourth).store(round);
                break;
            }
            default:
                while (std::atomic_ref(fourth).load() != round) {
                    std::this_thread::yield();
                }
                sum += data.a + data.b;
            }
        });
        third = nullptr;
    }
    std::printf("%d\n", sum);
}
