// A shared pointer as an atomic object, by C++20's class and by the older functions: readers take it while it is replaced.
#include <atomic>
#include <memory>
#include <string>

#include "../include/threads.hpp"

struct Config {
    int version;
    std::string text;
};

int main() {
    auto old = std::make_shared<const Config>(Config{0, "a string too long to fit into the object itself"});
    std::atomic<std::shared_ptr<const Config>> current(old);
    std::shared_ptr<const Config> plain = old;
    long seen[4] = {};
    crowd(4, [&](int n) {
        for (int i = 1; i <= 100; i++) {
            if (n == 0) {
                auto next = std::make_shared<const Config>(Config{i, std::to_string(i) + " of a string too long"});
                current.store(next);
                std::atomic_store(&plain, next);
            } else if (n == 1) {
                auto expected = old;
                while (!current.compare_exchange_strong(expected, nullptr)) {
                    seen[n] += expected && expected->text.empty();
                }
                current.exchange(old);
                expected = std::atomic_load(&plain);
                auto next = std::make_shared<const Config>(Config{expected->version, expected->text + "."});
                std::atomic_compare_exchange_weak(&plain, &expected, next);
            } else {
                // A load by an exchange that fails.
                std::shared_ptr<const Config> mine;
                while (current.compare_exchange_weak(mine, nullptr)) {
                }
                seen[n] += mine && mine->text.empty();
                mine = std::atomic_load(&plain);
                seen[n] += mine->text.empty();
            }
        }
    });
    current.exchange(nullptr);
    std::printf("%ld %d\n", seen[1] + seen[2] + seen[3], current.load() == nullptr);
}
