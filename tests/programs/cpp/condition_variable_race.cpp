// The flag is set without the lock: the waiter's predicate reads it under the lock, which does not help.
#include <condition_variable>
#include <mutex>

#include "../include/threads.hpp"

std::mutex mutex;
std::condition_variable condition;
bool ready;

int main() {
    together(
        [] {
            std::unique_lock lock(mutex);
            bool seen = ready; //~ RACE ready
            next_turn();
            lock.unlock();
            turn(3);
            std::printf("%d\n", seen);
        },
        [] {
            turn(2);
            ready = true; //~ RACE ready
            condition.notify_one();
            next_turn();
        });
}
