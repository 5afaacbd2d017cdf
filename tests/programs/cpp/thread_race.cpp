// A lambda keeps a reference to a variable of its creator.
#include "../include/threads.hpp"

int main() {
    int counter = 0;
    std::jthread thread([&] {
        counter++; //~ RACE counter
        next_turn();
    });
    turn(2);
    counter++; //~ RACE counter
    thread.join();
    std::printf("%d\n", counter);
}
