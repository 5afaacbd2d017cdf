// condition_variable_any gives up when it is asked to stop, and then knows what was done before.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stop_token>

#include "../include/threads.hpp"

int main() {
    int stopped = 0, reasons = 0;
    for (int round = 0; round < 50; round++) {
        std::mutex mutex;
        std::shared_mutex shared;
        std::condition_variable_any changed;
        bool never = false;
        int reason = 0, out[3] = {};
        {
            std::jthread one([&](std::stop_token stop) {
                std::unique_lock lock(mutex);
                if (!changed.wait(lock, stop, [&] { return never; })) {
                    out[0] = reason;
                }
            });
            std::jthread two([&](std::stop_token stop) {
                std::shared_lock lock(shared);
                if (!changed.wait_for(lock, stop, std::chrono::seconds(100), [&] { return never; })) {
                    out[1] = reason;
                }
            });
            std::jthread three([&](std::stop_token stop) {
                std::unique_lock lock(mutex);
                changed.wait_until(lock, stop, std::chrono::steady_clock::now() + std::chrono::seconds(100),
                                   [&] { return stop.stop_requested(); });
                out[2] = reason;
            });
            if (round % 2) {
                std::this_thread::yield();
            }
            reason = 1;
        }
        for (int value : out) {
            reasons += value;
        }
        stopped++;
    }
    std::printf("%d %d\n", stopped, reasons);
}
