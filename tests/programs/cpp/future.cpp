// Promises, futures, shared futures, packaged tasks, async, and exceptions that come through them.
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>

#include "../include/threads.hpp"

int main() {
    int side = 0;
    std::promise<std::string> promise;
    auto future = promise.get_future();
    std::thread teller([&] {
        side = 1;
        promise.set_value("told");
    });
    std::string told = future.get();
    std::printf("%s %d\n", told.c_str(), side);
    teller.join();

    std::promise<int> many;
    auto shared = many.get_future().share();
    int sums[3];
    std::thread giver([&] {
        side = 2;
        many.set_value(5);
    });
    crowd(3, [&, shared](int n) { sums[n] = shared.get() + side; });
    giver.join();
    std::printf("%d %d\n", sums[0], sums[2]);

    std::packaged_task<int(int)> task([&](int n) { return side + n; });
    auto result = task.get_future();
    std::thread worker(std::move(task), 40);
    std::printf("%d\n", result.get());
    worker.join();

    auto answer = std::async(std::launch::async, [&] { return side = 42; });
    auto failure = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
    while (answer.wait_for(std::chrono::seconds(100)) != std::future_status::ready) {
    }
    std::printf("%d %d\n", side, answer.get());
    try {
        failure.get();
    } catch (const std::runtime_error &error) {
        std::printf("%s\n", error.what());
    }
    auto lazy = std::async(std::launch::deferred, [&] { return side; });
    std::printf("%d\n", lazy.get());
}
