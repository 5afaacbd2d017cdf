// What is done after the request to stop is not ordered before the end of a wait.
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "../include/threads.hpp"

std::mutex mutex;
std::condition_variable_any changed;
int before, after;

int main() {
    int seen = 0;
    std::jthread waits([&](std::stop_token stop) {
        std::unique_lock lock(mutex);
        changed.wait(lock, stop, [] { return false; });
        lock.unlock();
        turn(2);
        seen = before + after; //~ RACE after
    });
    before = 1;
    waits.request_stop();
    after = 2; //~ RACE after
    next_turn();
    waits.join();
    std::printf("%d\n", seen);
}
