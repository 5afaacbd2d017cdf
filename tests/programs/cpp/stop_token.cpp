// Stop callbacks: made and destroyed by many threads, run by the one that asks to stop. A callback's end comes before the end of
// its destructor.
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "../include/threads.hpp"

int main() {
    int ran = 0, missed = 0, early = 0;
    for (int round = 0; round < 100; round++) {
        std::stop_source source;
        int hits[4] = {};
        std::vector<std::thread> threads;
        for (int n = 0; n < 4; n++) {
            threads.emplace_back([&, n, token = source.get_token()] {
                auto own = std::make_unique<int>(0);
                {
                    std::stop_callback callback(token, [&] { *own += 1; });
                    std::stop_callback other(token, [&, n] { hits[n]++; });
                    if (n % 2) {
                        std::this_thread::yield();
                    }
                }
                hits[n] += *own;
            });
        }
        int asked = 7;
        std::jthread waits([&](std::stop_token, std::stop_token token) {
            while (!token.stop_requested()) {
                std::this_thread::yield();
            }
            early += asked != 8;
        }, source.get_token());
        asked++;
        ran += source.request_stop();
        for (auto &thread : threads) {
            thread.join();
        }
        for (int hit : hits) {
            missed += hit > 2;
        }
    }
    // A callback that takes itself away.
    std::stop_source source;
    std::optional<std::stop_callback<std::function<void()>>> self;
    self.emplace(source.get_token(), [&] {
        int &count = ran;
        self.reset();
        count++;
    });
    std::jthread([source] { std::stop_source(source).request_stop(); }).join();
    std::printf("%d %d %d\n", ran, missed, early);
}
