// A cache filled under a shared lock.
// orders: both
#include <shared_mutex>

#include "../include/threads.hpp"

std::shared_mutex mutex;
int cached;

int main() {
    int seen[2];
    crowd(2, [&](int n) {
        turn(n + 1);
        std::shared_lock lock(mutex);
        cached += 1; //~ RACE cached
        seen[n] = cached;
        lock.unlock();
        next_turn();
    });
    std::printf("%d %d\n", seen[0], seen[1]);
}
