// condition_variable and condition_variable_any, with a stop token and with time limits.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "../include/threads.hpp"

using namespace std::chrono_literals;

std::mutex mutex;
std::condition_variable filled;
std::deque<std::unique_ptr<int>> queue;
std::shared_mutex shared;
std::condition_variable_any any;
int ready, value;

int main() {
    int sum = 0, seen = 0;
    together(
        [] {
            for (int i = 0; i < 200; i++) {
                auto item = std::make_unique<int>(i);
                std::lock_guard guard(mutex);
                queue.push_back(std::move(item));
                filled.notify_one();
            }
            std::unique_lock lock(shared);
            value = 7;
            ready = 1;
            lock.unlock();
            any.notify_all();
        },
        [&] {
            for (int i = 0; i < 200; i++) {
                std::unique_lock lock(mutex);
                if (i % 2) {
                    filled.wait(lock, [] { return !queue.empty(); });
                } else {
                    filled.wait_for(lock, 100s, [] { return !queue.empty(); });
                }
                auto item = std::move(queue.front());
                queue.pop_front();
                lock.unlock();
                sum += *item;
            }
            std::shared_lock lock(shared);
            std::stop_source never;
            any.wait(lock, never.get_token(), [] { return ready; });
            seen = value;
        });
    std::printf("%d %d\n", sum, seen);
}
