// A reader leaves its epoch with a relaxed store: the writer who sees it gone frees what it has read.
#include <atomic>

#include "../include/threads.hpp"

struct Config {
    int version;
};

std::atomic<Config *> current{new Config{1}};
std::atomic<unsigned> active;

int main() {
    int seen = 0;
    together(
        [&] {
            active.store(1);
            seen = current.load()->version; //~ RACE config
            active.store(0, std::memory_order_relaxed);
            next_turn();
        },
        [] {
            turn(2);
            Config *old = current.exchange(new Config{2});
            while (active.load() != 0) {
            }
            delete old; //~ RACE config
        });
    delete current.load();
    std::printf("%d\n", seen);
}
