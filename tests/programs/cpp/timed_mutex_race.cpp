// A time limit is over, and the thread goes on without the lock.
#include <chrono>
#include <mutex>
#include <shared_mutex>

#include "../include/threads.hpp"

using namespace std::chrono_literals;

std::timed_mutex timed;
std::recursive_timed_mutex recursive;
std::shared_timed_mutex shared;
int one, two, three;

int main() {
    int got = 0;
    together(
        [] {
            std::scoped_lock all(timed, recursive, shared);
            one = 1; //~ RACE one
            two = 1; //~ RACE two
            three = 1; //~ RACE three
            next_turn();
            turn(3);
        },
        [&] {
            turn(2);
            got += timed.try_lock_for(1ms);
            one++; //~ RACE one
            got += recursive.try_lock_until(std::chrono::system_clock::now() + 1ms);
            two++; //~ RACE two
            got += shared.try_lock_shared_for(1ms);
            three++; //~ RACE three
            next_turn();
        });
    std::printf("%d %d %d %d\n", got, one, two, three);
}
