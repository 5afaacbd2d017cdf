// A task writes on after it kept its promise.
#include <future>

#include "../include/threads.hpp"

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    int log = 0;
    std::thread thread([&] {
        promise.set_value(1);
        log = 1; //~ RACE log
        next_turn();
    });
    int got = future.get();
    turn(2);
    int seen = log; //~ RACE log
    thread.join();
    std::printf("%d %d\n", got, seen);
}
