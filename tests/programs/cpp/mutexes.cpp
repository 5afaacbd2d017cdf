// All mutexes and all ways to lock them.
#include <chrono>
#include <mutex>
#include <shared_mutex>

#include "../include/threads.hpp"

using namespace std::chrono_literals;

std::mutex plain, other;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::recursive_timed_mutex both;
std::shared_mutex shared;
std::shared_timed_mutex shared_timed;
int counters[7];

int main() {
    crowd(4, [](int n) {
        for (int i = 0; i < 50; i++) {
            {
                std::lock_guard guard(plain);
                counters[0]++;
            }
            {
                std::lock_guard outer(recursive), inner(recursive);
                counters[1]++;
            }
            if (std::unique_lock lock(timed, 100s); lock) {
                counters[2]++;
            }
            {
                std::unique_lock lock(both, std::defer_lock);
                while (!lock.try_lock_until(std::chrono::steady_clock::now() + 100s)) {
                }
                counters[3]++;
            }
            if (n < 2) {
                std::unique_lock lock(shared);
                counters[4]++;
            } else {
                std::shared_lock lock(shared);
                volatile int seen = counters[4];
                (void)seen;
            }
            if (n < 2) {
                std::unique_lock lock(shared_timed, 100s);
                counters[5]++;
            } else if (std::shared_lock lock(shared_timed, 100s); lock) {
                volatile int seen = counters[5];
                (void)seen;
            }
            // Without a fixed order, and without deadlock.
            if (n % 2) {
                std::scoped_lock lock(plain, other);
                counters[6]++;
            } else {
                std::scoped_lock lock(other, plain);
                counters[6]++;
            }
        }
    });
    for (int counter : counters) {
        std::printf("%d\n", counter);
    }
}
