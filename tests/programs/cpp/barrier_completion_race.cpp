// A thread that arrives and does not wait is before the completion function, which is not before what that thread does next.
#include <barrier>

#include "../include/threads.hpp"

int input, total;

struct Complete {
    void operator()() noexcept {
        total = input + 1; //~ RACE total
    }
};

int main() {
    std::barrier barrier(2, Complete{});
    int seen = 0, waited = 0;
    together(
        [&] {
            input = 4;
            auto token = barrier.arrive();
            next_turn();
            turn(3);
            seen = total; //~ RACE total
            barrier.wait(std::move(token));
            waited = total;
        },
        [&] {
            turn(2);
            barrier.arrive_and_wait();
            next_turn();
        });
    std::printf("%d %d\n", seen, waited);
}
