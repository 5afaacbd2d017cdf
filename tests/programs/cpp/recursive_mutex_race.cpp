// A recursive mutex is free only when it was unlocked as often as it was locked: until then it protects, and then no longer.
#include <mutex>

#include "../include/threads.hpp"

std::recursive_mutex mutex;
int inside, outside;

int main() {
    together(
        [] {
            mutex.lock();
            mutex.lock();
            mutex.unlock();
            inside++;
            mutex.unlock();
            outside++; //~ RACE outside
            next_turn();
        },
        [] {
            turn(2);
            mutex.lock();
            inside++;
            outside++; //~ RACE outside
            mutex.unlock();
        });
    std::printf("%d %d\n", inside, outside);
}
