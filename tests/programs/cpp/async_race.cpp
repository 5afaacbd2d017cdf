// A result is used while std::async still works: only get and wait order it.
#include <chrono>
#include <future>

#include "../include/threads.hpp"

int main() {
    int result = 0;
    auto done = std::async(std::launch::async, [&] {
        result = 6 * 7; //~ RACE result
        next_turn();
        turn(3);
    });
    turn(2);
    int early = result; //~ RACE result
    bool ready = done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    next_turn();
    done.get();
    std::printf("%d %d %d\n", early, ready, result);
}
