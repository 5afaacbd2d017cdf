// Two locks are taken by one thread, and two others by the other.
// orders: both
#include <mutex>

#include "../include/threads.hpp"

std::mutex left, right, other, more;
int balance;

int main() {
    together(
        [] {
            turn(1);
            {
                std::scoped_lock both(left, right);
                balance++; //~ RACE balance
            }
            next_turn();
        },
        [] {
            turn(2);
            {
                std::unique_lock one(other, std::defer_lock), two(more, std::defer_lock);
                std::lock(one, two);
                balance++; //~ RACE balance
            }
            next_turn();
        });
    std::printf("%d\n", balance);
}
