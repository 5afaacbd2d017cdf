// A promise that is kept at the end of the thread orders nothing before that.
#include <future>

#include "../include/threads.hpp"

int data;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
        promise.set_value_at_thread_exit(3);
        data = 1; //~ RACE data
        next_turn();
    });
    turn(2);
    int seen = data; //~ RACE data
    next_turn();
    std::printf("%d %d\n", seen, future.get());
    thread.join();
}
