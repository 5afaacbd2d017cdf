// A ticket lock that is given back with a relaxed store, and a lock whose readers leave it so.
#include <atomic>

#include "../include/threads.hpp"

std::atomic<unsigned> next, serving;
std::atomic<int> readers;
int counter, config = 1;

int main() {
    int seen = 0;
    together(
        [&] {
            unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
            while (serving.load(std::memory_order_acquire) != mine) {
            }
            counter++; //~ RACE counter
            serving.store(mine + 1, std::memory_order_relaxed);
            readers.fetch_add(1, std::memory_order_acquire);
            seen = config; //~ RACE config
            readers.fetch_sub(1, std::memory_order_relaxed);
            next_turn();
        },
        [] {
            turn(2);
            unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
            while (serving.load(std::memory_order_acquire) != mine) {
            }
            counter++; //~ RACE counter
            serving.store(mine + 1, std::memory_order_release);
            int none = 0;
            while (!readers.compare_exchange_weak(none, -1, std::memory_order_acq_rel)) {
                none = 0;
            }
            config = 2; //~ RACE config
        });
    std::printf("%d %d %d\n", counter, seen, config);
}
