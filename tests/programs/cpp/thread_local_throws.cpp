// Destructors of a thread's objects that throw and catch, while the thread ends and while an exception is under way.
#include <mutex>
#include <stdexcept>
#include <string>

#include "../include/threads.hpp"

std::mutex mutex;
int caught, unwound;

struct Noisy {
    std::string text = "a string too long to fit into the object itself";
    int depth = 3;
    [[gnu::noinline]] void fail(int n) {
        if (n == 0) {
            throw std::runtime_error(text);
        }
        fail(n - 1);
    }
    ~Noisy() {
        try {
            fail(depth);
        } catch (const std::runtime_error &error) {
            std::lock_guard lock(mutex);
            caught++;
            unwound += std::uncaught_exceptions();
        }
    }
};

thread_local Noisy noisy;

int main() {
    for (int round = 0; round < 10; round++) {
        crowd(4, [](int n) {
            noisy.depth = n;
            try {
                Noisy local;
                local.fail(n);
            } catch (const std::exception &) {
            }
        });
    }
    std::printf("%d %d\n", caught, unwound);
}
