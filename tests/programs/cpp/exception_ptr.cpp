// An exception passes from thread to thread by std::exception_ptr; whoever drops it last destroys it.
#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

struct Failure {
    std::string text;
    int *seen;
    Failure(std::string text, int *seen) : text(std::move(text)), seen(seen) {}
    Failure(const Failure &) = default;
    ~Failure() { *seen += (int)text.size(); }
};

int main() {
    int total = 0;
    for (int i = 0; i < 200; i++) {
        int seen = 0;
        std::exception_ptr held;
        try {
            throw Failure("a text that does not fit into the object itself", &seen);
        } catch (...) {
            held = std::current_exception();
        }
        std::vector<std::thread> threads;
        for (int n = 0; n < 3; n++) {
            threads.emplace_back([p = held]() mutable {
                try {
                    std::rethrow_exception(std::move(p));
                } catch (const Failure &failure) {
                    if (failure.text.empty()) {
                        std::puts("empty");
                    }
                }
            });
        }
        held = nullptr;
        for (auto &thread : threads) {
            thread.join();
        }
        total += seen;
    }
    std::printf("%d\n", total / 47);
}
