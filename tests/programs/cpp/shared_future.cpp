// An exception and a value of a shared_future in many threads; a broken promise; a task that is run again.
#include <future>
#include <stdexcept>
#include <string>

#include "../include/threads.hpp"

struct Failure : std::runtime_error {
    std::string detail;
    explicit Failure(const std::string &text) : std::runtime_error(text), detail(text + text) {}
};

int main() {
    size_t lengths[6] = {};
    for (int round = 0; round < 20; round++) {
        std::promise<int> promise;
        auto future = promise.get_future().share();
        std::thread giver([promise = std::move(promise), round]() mutable {
            auto failure = std::make_exception_ptr(Failure("a text that does not fit into the object itself"));
            if (round % 2) {
                promise.set_exception(std::move(failure));
            }
            // Else it breaks its promise.
        });
        std::vector<std::thread> threads;
        for (int n = 0; n < 6; n++) {
            threads.emplace_back([&lengths, n, mine = future]() {
                try {
                    mine.get();
                } catch (const Failure &failure) {
                    lengths[n] += failure.detail.size();
                } catch (const std::future_error &error) {
                    lengths[n] += error.code() == std::future_errc::broken_promise;
                }
            });
        }
        future = {};
        for (auto &thread : threads) {
            thread.join();
        }
        giver.join();
    }
    std::string log;
    std::packaged_task<std::string *(int)> task([&](int n) {
        log += std::to_string(n);
        return &log;
    });
    for (int n = 0; n < 5; n++) {
        auto result = task.get_future();
        std::thread worker([&task, n] { task(n); });
        *result.get() += ';';
        worker.join();
        task.reset();
    }
    std::printf("%zu %zu %s\n", lengths[0], lengths[5], log.c_str());
}
