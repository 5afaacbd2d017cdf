// A semaphore with room for two lets two threads in, and orders neither.
// orders: both
#include <semaphore>

#include "../include/threads.hpp"

std::counting_semaphore<2> room(2);
int counter;

int main() {
    crowd(2, [](int n) {
        room.acquire();
        turn(n + 1);
        counter++; //~ RACE counter
        next_turn();
        invisible_wait(2);
        room.release();
    });
    std::printf("%d\n", counter);
}
