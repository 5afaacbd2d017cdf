// An atomic_ref on one side only.
// orders: both
#include <atomic>

#include "../include/threads.hpp"

int counter;

int main() {
    together(
        [] {
            turn(1);
            std::atomic_ref reference(counter);
            reference.fetch_add(1); //~ RACE counter
            next_turn();
        },
        [] {
            turn(2);
            counter++; //~ RACE counter
            next_turn();
        });
    std::printf("%d\n", counter);
}
